"""An HTTP server on this host, for tests of readers that ask for ranges of files."""

import contextlib
import functools
import http.server
import os
import pathlib
import re
import threading


class Handler(http.server.SimpleHTTPRequestHandler):
    """Records the sizes of ranges. Without ranges, it is Python's."""

    asked: list
    ranges: bool

    def do_GET(self):
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not (self.ranges and found and os.path.isfile(self.translate_path(self.path))):
            return super().do_GET()
        data = pathlib.Path(self.translate_path(self.path)).read_bytes()
        begin, end = int(found[1]), min(int(found[2]) + 1, len(data))
        self.asked.append(end - begin)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(data)}")
        self.send_header("Content-Length", str(end - begin))
        self.end_headers()
        self.wfile.write(data[begin:end])

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def server(ranges=True):
    """The URL of the current directory, and the list of the sizes that were asked for."""
    handler = type("Recording", (Handler,), {"asked": [], "ranges": ranges})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=os.getcwd())) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{served.server_port}", handler.asked
        finally:
            served.shutdown()
            thread.join()
