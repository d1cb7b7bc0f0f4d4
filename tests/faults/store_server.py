"""A process with a store, which answers batches on a socket: `python -m tests.faults.store_server`.

A request is the length of the reports in 4 bytes, and the reports; the answer is one byte, sent
when they are stored: "+", or "-" if they are not.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from liftlock.collect.store import StoreError, open_store
from liftlock.collect.wire import Batch
from liftlock.errors import LiftlockError
from tests.unit.collect.store.homes import NAME, Mechanism, served


async def serve(where: str, socket: str, outputs: int) -> None:
    """Answer until this process is told to end, and then what was accepted."""
    store = open_store(where)
    mechanism = Mechanism(outputs)
    store.register(NAME, served(mechanism), {})
    width = mechanism.batch([]).width

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while length := await reader.readexactly(4):
                reports = await reader.readexactly(int.from_bytes(length, "big"))
                try:
                    await store.submit(Batch(NAME, mechanism.digest, width, reports))
                    writer.write(b"+")
                except StoreError:
                    writer.write(b"-")
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_unix_server(talk, socket)
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    print("ready", flush=True)
    await ending.wait()
    server.close()
    await asyncio.to_thread(store.shutdown)
    await asyncio.sleep(0.05)  # the answers are on their way


def main() -> int:
    """Serve a store (a file or a URL) on a socket, with a mechanism of so many outputs."""
    where, socket, outputs = sys.argv[1:]
    Path(socket).unlink(missing_ok=True)
    try:
        asyncio.run(serve(where, socket, int(outputs)))
    except LiftlockError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
