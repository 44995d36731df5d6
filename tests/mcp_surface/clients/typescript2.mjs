// node typescript2.mjs (legacy | auto) (http URL | stdio COMMAND ARGUMENT...)

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { session } from "./session.mjs";

const [mode, kind, target, ...args] = process.argv.slice(2);
const transport =
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args, env: process.env });
const client = new Client(
  { name: "typescript2", version: "1" },
  { versionNegotiation: { mode } },
);
await client.connect(transport);
await session(client, () => client.getNegotiatedProtocolVersion());
