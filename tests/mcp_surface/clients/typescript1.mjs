// node typescript1.mjs legacy (http URL | stdio COMMAND ARGUMENT...)

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { session } from "./session.mjs";

const [kind, target, ...args] = process.argv.slice(3);
const transport =
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args, env: process.env });
let protocol;
const remember = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  protocol = version;
  remember?.(version);
};
const client = new Client({ name: "typescript1", version: "1" });
await client.connect(transport);
await session(client, () => protocol);
