"""An embedding endpoint that answers at once: vectors from a hash, in OpenAI's format.

A peer that searches by vectors wants a model. None is downloaded here, so this takes its place: the
vectors mean nothing, and cost nothing. ``python embeddings.py`` prints its address.
"""

import asyncio
import hashlib
import json
import random
import re

DIMENSIONS = 384

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


def vector(text: str) -> list[float]:
    """Return the same unit vector for the same text."""
    source = random.Random(hashlib.sha256(text.encode()).digest())
    numbers = [source.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = sum(number * number for number in numbers) ** 0.5
    return [round(number / length, 6) for number in numbers]


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            sent = json.loads(await reader.readexactly(int(length[1]) if length else 0))
            texts = [sent["input"]] if isinstance(sent["input"], str) else sent["input"]
            data = [{"index": n, "embedding": vector(text)} for n, text in enumerate(texts)]
            body = json.dumps({"data": data}).encode()
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            writer.write(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
