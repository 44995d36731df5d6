// What each TypeScript client does with the server, and what it prints of it for the test.

export async function session(client, protocol) {
  const { tools } = await client.listTools();
  const call = (name, args) => client.callTool({ name, arguments: args });
  const recorded = await call("record_memory", {
    content: "Prefers tea \u{1F375}",
    tags: ["drink"],
    memory_type: "preference",
  });
  const id = recorded.structuredContent.id;
  const found = await call("search_memories", { q: "TEA", tag: "drink" });
  const revised = await call("revise_memory", {
    memory_id: id,
    expected_version: 1,
    content: "Prefers green tea",
  });
  const stale = await call("revise_memory", {
    memory_id: id,
    expected_version: 1,
    content: "Prefers coffee",
  });
  const wrong = await call("search_memories", { limit: "ten" });
  const { contents } = await client.readResource({ uri: "memories://policy" });
  const { messages } = await client.getPrompt({ name: "use_memories" });
  console.log(
    JSON.stringify({
      protocol: protocol(),
      server: client.getServerVersion().name,
      instructions: client.getInstructions(),
      tools: tools.map((tool) => tool.name),
      recorded: told(recorded),
      found: told(found),
      revised: told(revised),
      stale: told(stale),
      wrong: told(wrong),
      policy: contents[0].text,
      prompt: messages[0].content.text,
    }),
  );
  await client.close();
}

function told(result) {
  return {
    error: result.isError ?? false,
    texts: result.content.map((block) => block.text),
    structured: result.structuredContent ?? null,
  };
}
