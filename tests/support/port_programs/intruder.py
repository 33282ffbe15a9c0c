"""Runs an operation of its own on a TensorFlow server as soon as that answers: it writes a file there.

Arguments: the server's address, and the file. Commands: `begin` answers when the first try has begun; `tries` with how
many tries have failed.
"""

from __future__ import annotations

import json
import sys
import threading

from gensim_tfw2v.runtime.tensorflow import load_tensorflow

tf = load_tensorflow()
failures = 0


def intrude(address: str, file: str) -> None:
    """Try until it works."""
    global failures
    options = tf.compat.v1.ConfigProto(operation_timeout_in_ms=2000)
    while True:
        try:
            with tf.Graph().as_default(), tf.compat.v1.Session(f"grpc://{address}", config=options) as session:
                with tf.device("/job:ps/task:0"):
                    write = tf.io.write_file(file, "written")
                session.run(write)
                return
        except tf.errors.OpError:
            failures += 1


thread = threading.Thread(target=intrude, args=sys.argv[1:], daemon=True)
for line in sys.stdin:
    if line.strip() == "begin":
        thread.start()
    print(json.dumps(failures), flush=True)
