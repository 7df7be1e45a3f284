"""A standalone cluster of Spark (one master, two workers) with a Spark Connect server on it, as processes of the tests."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

WAIT_SECONDS = 180
HOST = "127.0.0.1"


class Cluster:
    """master: spark://…; connect: sc://…; folder: where its tables and logs are."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self.folder = folder
        self.home = Path(pyspark.__file__).parent
        self.master = f"spark://{HOST}:{free_port()}"
        self.connect = f"sc://{HOST}:{free_port()}"
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        port = self.master.rpartition(":")[2]
        self._run(
            "master",
            "spark-class",
            "org.apache.spark.deploy.master.Master",
            "-h",
            HOST,
            "-p",
            port,
            "--webui-port",
            "0",
        )
        listening(int(port))
        for n in (1, 2):
            worker = ("org.apache.spark.deploy.worker.Worker", "-h", HOST, "-c", "1", "-m", "1g", "--webui-port", "0")
            self._run(f"worker{n}", "spark-class", *worker, "-d", str(self.folder / f"work{n}"), self.master)

    def serve(self) -> None:
        """Spark Connect."""
        port = self.connect.rpartition(":")[2]
        options = {
            "spark.connect.grpc.binding.port": port,
            "spark.connect.grpc.binding.address": HOST,
            "spark.driver.host": HOST,
            "spark.ui.enabled": "false",
            "spark.executor.memory": "512m",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(self.folder / "tables"),
        }
        given = [part for name, value in options.items() for part in ("--conf", f"{name}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        self._run("connect", "spark-submit", "--master", self.master, "--class", server, *given, "spark-internal")
        listening(int(port))

    def stop_serving(self) -> None:
        server = self._started.pop()
        server.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.wait(timeout=30)
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()

    def executors(self) -> list[int]:
        """Process ids of those that this cluster's workers started."""
        sessions = {process.pid for process in self._started}
        pids = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                session = int((process / "stat").read_text().rpartition(")")[2].split()[3])
                if session in sessions and b"CoarseGrainedExecutorBackend" in (process / "cmdline").read_bytes():
                    pids.append(int(process.name))
        return pids

    def _run(self, name: str, program: str, *arguments: str) -> None:
        environment = {**os.environ, "SPARK_HOME": str(self.home), "SPARK_LOCAL_IP": HOST, "SPARK_NO_DAEMONIZE": "1"}
        with (self.folder / f"{name}.log").open("wb") as log:
            command = [str(self.home / "bin" / program), *arguments]
            self._started.append(
                subprocess.Popen(
                    command,
                    cwd=self.folder,
                    env=environment,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # with the executors that a worker starts
                )
            )

    def stop(self) -> None:
        for process in reversed(self._started):
            process.terminate()
        for process in self._started:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def listening(port: int) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError("the process does not listen")


@contextmanager
def running() -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="dpsql-cluster-"))
    cluster = Cluster(folder)
    try:
        cluster.start()
        cluster.serve()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)
