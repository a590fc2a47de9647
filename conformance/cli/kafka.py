"""`insync kafka`: releases of Apache Kafka, run and held at their messages, beside the model."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click

from conformance.chaos.clients import OURS, WrongClients, clients_named
from conformance.cli.common import (
    Progress,
    RenamedOption,
    WrongUse,
    emit_json,
    finish,
    json_option,
    say,
    show_table,
)
from conformance.cli.interrupts import INTERRUPTED, interrupts
from conformance.cli.process_commands import (
    FOLDER,
    ONE_OR_ALL,
    add_process_commands,
    ends_as_interrupt,
    locked,
    states_of,
)
from conformance.kafka.carry_out_schedule import ask_proxies, do_line
from conformance.kafka.download import NotDownloaded, cache_folder, downloaded_releases, libs_of
from conformance.kafka.download import download as download_release
from conformance.kafka.java import NoJava, fetch_java, java_for, version_of
from conformance.kafka.lab import LOOPBACK, MOST_BROKERS, PROXIES, STATE, ZOOKEEPER, Lab
from conformance.kafka.releases import RELEASES, KafkaRelease, NoRelease, release_of
from conformance.kafka.schedule import WrongSchedule, parse_schedule
from conformance.kafka.zookeeper_client import controller_of
from impl.server.processes import ClusterError
from specs.rendering import as_data
from specs.verdict import Verdict

HOME = click.option(
    "--home", metavar="DIR", type=click.Path(path_type=Path),
    help="An installed Kafka, instead of one that was fetched.",
)  # fmt: skip
DEFAULT = "2.3.1"
LEAST_MIXED = 3
"""Fewer brokers would leave no acks=all with min.insync.replicas 2 while one of them is away."""


@click.group()
def kafka() -> None:
    """Run releases of Apache Kafka, in ZooKeeper mode, with proxies between all brokers.

    Every command below takes --json FILE (or - for standard output).

    \b
    Example:
      insync kafka fetch 0.10.2.2
      insync kafka replay specs/stories/kafka/kip_101.story --version 0.10.2.2
      insync kafka start DIR --version 2.3.1 --brokers 3
      insync kafka stop DIR
    """


@kafka.command()
@click.argument("versions", metavar="VERSION...", nargs=-1, required=True)
@json_option
def fetch(versions: tuple[str, ...], json_target: str | None) -> None:
    """Get releases of Kafka by Maven, and a Java that fits, into the cache.

    The cache is $INSYNC_KAFKA_CACHE, else insync/kafka in the user's cache. What is there is not
    fetched again, and a fetch that was interrupted goes on where it ended.

    \b
    Example:
      insync kafka fetch 2.3.1
      insync kafka fetch 0.10.2.2 0.11.0.3 1.1.1
    """
    found = []
    with _refusals():
        chosen = [release_of(text) for text in versions]
        for release in chosen:
            with Progress() as progress:
                progress(f"Kafka {release.text}")

                def on_progress(line: str, release: KafkaRelease = release) -> None:
                    progress(f"Kafka {release.text}: {line[:90]}")

                libs = download_release(release, progress=on_progress)
                progress(f"Kafka {release.text}: a Java that fits")
                java = fetch_java(release, cache_folder())
            jars = len(list(libs.glob("*.jar")))
            say(
                f"Kafka {release.text}: {jars} jars in {libs}, Java {version_of(java)}", json_target
            )
            found.append({"version": release.text, "libs": libs, "jars": jars, "java": str(java)})
    emit_json(json_target, {"fetched": found})


@kafka.command()
@json_option
def versions(json_target: str | None) -> None:
    """List the releases that the lab was made for, and which of them are here.

    \b
    Example:
      insync kafka versions
    """
    here = {release.text for release in downloaded_releases()}
    rows, cells = [], []
    for text in dict.fromkeys((*RELEASES, *sorted(here))):
        release, java = release_of(text), None
        with contextlib.suppress(NoJava):
            java = version_of(java_for(release, cache_folder()))
        row = {
            "version": text, "here": text in here, "scala": release.scala,
            "newest_java": release.newest_java, "java": java, "protocol": release.protocol,
        }  # fmt: skip
        rows.append(row)
        cells.append([
            text, "fetched" if text in here else "-",
            f"Java {java}" if java else f"needs Java {release.newest_java} or older",
            f"Scala {release.scala}", release.protocol,
        ])  # fmt: skip
    columns = ("version", "here", "would run on", "built for", "inter.broker.protocol.version")
    show_table(columns, cells, json_target)
    say(f"in {cache_folder()}", json_target)
    emit_json(json_target, {"cache": cache_folder(), "releases": rows})


@kafka.command()
@FOLDER
@ONE_OR_ALL
@click.option("--version", metavar="V", help=f"The release, for a new one; {DEFAULT} by default.")
@click.option("--brokers", type=click.IntRange(1, MOST_BROKERS), default=None, metavar="N",
              help="How many, for a new one; 3 by default.")  # fmt: skip
@click.option("--insync-brokers", "ours", cls=RenamedOption, former="--ours",
              type=click.IntRange(0, MOST_BROKERS), default=None, metavar="N",
              help="How many of our own brokers beside them, for a new one; none by default."
              )  # fmt: skip
@HOME
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="A broker's property, for a new one.")  # fmt: skip
@json_option
def start(
    folder: Path, broker: str | None, version: str | None, brokers: int | None, ours: int | None,
    home: Path | None, settings: tuple[str, ...], json_target: str | None,
) -> None:  # fmt: skip
    """Start the Kafka in DIR, a new one if there is none; or one of its processes.

    ZooKeeper is the release's own. What brokers say to each other and to ZooKeeper passes proxies,
    which record it in DIR/trace; logs are in DIR/logs. If anything fails, everything that was
    started here is ended.

    With --insync-brokers the cluster is mixed: brokers of insync, which behave like the release,
    are members of it, with the ids after those of Kafka's own. Each may be controller, leader or
    follower.

    \b
    Example:
      insync kafka start DIR --version 2.3.1 --brokers 3
      insync kafka start DIR --version 2.3.1 --brokers 2 --insync-brokers 1
      insync kafka start DIR --version 2.8.2 --home ../kafka_2.13-2.8.2
      insync kafka start DIR 2
    """
    with _changing(folder):
        is_new = not (folder / STATE).exists()
        if not is_new:
            if any(one is not None for one in (version, brokers, ours, home, settings or None)):
                raise WrongUse(
                    f"{folder} has a Kafka already: --version, --brokers, --insync-brokers, --home "
                    f"and --set are for a new one; write: insync kafka start {folder}"
                )
            lab = Lab(folder)
        else:
            if broker is not None:
                raise WrongUse(f"{folder} has no Kafka yet; write: insync kafka start {folder}")
            if folder.exists() and any(one.name != ".lock" for one in folder.iterdir()):
                raise WrongUse(f"{folder} holds no Kafka and is not empty; name an empty directory")
            release = release_of(version or DEFAULT)
            count, more = brokers or 3, ours or 0
            if count + more > MOST_BROKERS:
                raise WrongUse(
                    f"--brokers {count} --insync-brokers {more}: "
                    f"a lab has at most {MOST_BROKERS} brokers"
                )
            ids = range(1, count + more + 1)
            lab = Lab.create(folder, release, ids, home, _settings(settings), ids[count:])
        only = None if broker is None else lab.name_of(broker)
        before = lab.running()
        try:
            lab.start(only=only)
        except KeyboardInterrupt:
            if is_new:  # who looks for the reason finds it in the logs, but there is none
                lab.remove()
            raise
    for name in lab.running():
        known = "runs already" if name in before else "started"
        say(f"{name}: {known}, process {lab.pid(name)}", json_target)
    emit_json(json_target, _status(lab))


def _settings(given: tuple[str, ...]) -> dict[str, str]:
    chosen = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise WrongUse(f"--set {text}: write NAME=VALUE")
        chosen[name.strip()] = value.strip()
    return chosen


@kafka.command()
@FOLDER
@click.argument("broker", type=int)
@click.option("--lines", type=click.IntRange(1), default=20, show_default=True, metavar="N",
              help="How many of the last lines.")  # fmt: skip
@click.option("--file", "file", default="server.log", show_default=True, metavar="NAME",
              help="server.log, controller.log, state-change.log, data-plane.log, "
              "kafka-request.log.")  # fmt: skip
@json_option
def logs(folder: Path, broker: int, lines: int, file: str, json_target: str | None) -> None:
    """Print the last lines of a broker's log.

    \b
    Example:
      insync kafka logs DIR 1
      insync kafka logs DIR 1 --file state-change.log --lines 50
    """
    lab = _lab(folder)
    with _refusals():
        lab.name_of(broker)
    path = lab.logs(broker) / file
    if not path.is_file():
        names = ", ".join(sorted(one.name for one in lab.logs(broker).glob("*.log"))) or "none yet"
        raise WrongUse(f"--file {file}: broker {broker} has no such log; there are: {names}")
    found = path.read_text(errors="replace").splitlines()[-lines:]
    for line in found:
        say(line, json_target)
    emit_json(json_target, {"file": path, "lines": found})


@kafka.command()
@FOLDER
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@json_option
def schedule(folder: Path, file: Path, json_target: str | None) -> None:
    """Do what a schedule says: hold, drop, delay, duplicate, release messages; kill, pause, expire.

    FILE is text, - for standard input, a line an act; it is read whole before anything is done.

    \b
    Example:
      echo "hold Fetch from 2 to 1" | insync kafka schedule DIR -
      insync kafka schedule DIR faults.txt
    """
    lab = _lab(folder)
    try:
        with click.open_file(str(file), encoding="utf-8") as opened:
            text = opened.read()
        lines = parse_schedule(text, str(file))
    except WrongSchedule as error:
        raise WrongUse(str(error)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"{file}: {getattr(error, 'strerror', None) or 'is not text'}") from error
    if not lines:
        raise WrongUse(f"{file} says nothing; write a line such as: hold Fetch from 2 to 1")
    raws = [raw for raw in text.splitlines() if raw.partition("#")[0].split()]
    if lab.pid(PROXIES) is None:
        raise WrongUse(f"the proxies of {folder} do not run; write: insync kafka start {folder}")
    done = []
    with _changing(folder):
        for raw in raws:
            done.append(do_line(lab, raw))
            say(done[-1], json_target)
        waiting = ask_proxies(lab, "held")
    say(f"held: {waiting}", json_target)
    emit_json(json_target, {"done": done, "held": waiting})


@kafka.command()
@click.argument("story", metavar="STORY", type=click.Path(path_type=Path))
@click.option("--version", metavar="V", default=DEFAULT, show_default=True, help="The release.")
@HOME
@click.option("--keep", metavar="DIR", type=click.Path(path_type=Path),
              help="Keep logs, disks and messages in DIR.")  # fmt: skip
@json_option
def replay(
    story: Path, version: str, home: Path | None, keep: Path | None, json_target: str | None
) -> None:
    """Replay a run of the model on real Kafka, step by step.

    STORY is of specs/stories, or what `insync find ... --save-story` wrote. In one of `replication`
    the lab is the controller; brokers, their logs and ZooKeeper are the release's. In one of
    `election` or `reassignment` controllers are too. Each step is waited for at the proxies, in
    ZooKeeper or on the disks, and compared with the model.

    Exit code 1: shown, what the story checks broke on real Kafka too. 0: not shown, real Kafka did
    otherwise at a step that is named; or the story breaks nothing, and all of it followed. 2: a
    step could not be brought about. 3: the story has a step that the lab cannot force.

    \b
    Example:
      insync bugs KIP-101 --save-story lost.story
      insync kafka replay lost.story --version 0.10.2.2
      insync kafka replay lost.story --version 0.11.0.3
      insync kafka replay specs/stories/deposed_controller_writes_unfenced.story --version 2.0.1
    """
    from conformance.kafka.replay import ReplayedStep, ReplayOutcome
    from conformance.kafka.replay import replay as replayed
    from conformance.kafka.run import NotReplayable, run_of
    from specs.story import read_story
    from specs.story.read import StoryError

    try:
        read = read_story(story)
    except (StoryError, OSError) as error:
        what = f"{story}: {error.strerror}" if isinstance(error, OSError) else str(error)
        raise WrongUse(what) from error
    if keep is not None and keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise WrongUse(f"--keep {keep} is there already; name a new directory")
    logging.getLogger("kazoo").disabled = True
    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        stack.enter_context(ends_as_interrupt())
        stack.enter_context(_refusals())
        release = release_of(version)
        libs_of(release, home)
        try:
            run = run_of(read)
            folder = keep or Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="insync-"))
            )

            def on_progress(done: ReplayedStep) -> None:
                say(f"{done.number:3}  {done.label}: {done.evidence}", json_target)

            report = replayed(run, release, folder, home, on_progress)
        except NotReplayable as error:
            click.echo(f"insync: {error}", err=True)
            finish(Verdict.NOT_CHECKED)
    if report.stopped is not None:
        say(f"{report.stopped.number:3}  {report.stopped.label}: DID NOT FOLLOW", json_target)
        say(f"     {report.stopped.evidence}", json_target)
    for broker, records in report.logs.items():
        say(f"log of broker {broker}: [{', '.join(records)}]", json_target)
    if not report.logs:
        say("registered: " + ", ".join(f"{name} {one}" for name, one in report.state.items()),
            json_target)  # fmt: skip
    if report.acknowledged:
        say(f"acknowledged with acks=all: {', '.join(report.acknowledged)}", json_target)
    why = {
        ReplayOutcome.SHOWN: (
            f"{', '.join(report.broken)} broke on Kafka {release.text} as in the model"
        ),
        ReplayOutcome.NOT_SHOWN: f"Kafka {release.text} did otherwise",
        ReplayOutcome.FOLLOWED: f"Kafka {release.text} took every step, and nothing was to break",
        ReplayOutcome.UNKNOWN: "a step could not be brought about",
    }[report.answer]
    say(f"{report.answer.value}: {why}; {report.steps} of {len(run.steps)} lines, "
        f"{report.seconds:.0f} s", json_target)  # fmt: skip
    emit_json(json_target, {
        "format": "insync.kafka_replay/1", "verdict": report.answer.verdict,
        "answer": report.answer, **{
            name: value for name, value in as_data(report).items() if name != "answer"
        },
    })  # fmt: skip
    finish(report.answer.verdict)


@kafka.command()
@FOLDER
@json_option
def trace(folder: Path, json_target: str | None) -> None:
    """Write what the Kafka in DIR did so far as a trace, line by line, into DIR/trace.

    The files are those of `insync cluster start --trace`: brokerN-S.ndjson for each start of a
    broker, from what its threads log at TRACE and what passed the proxies; zookeeper-1.ndjson from
    ZooKeeper's own transaction log. Where real Kafka does not show something, no line says so.

    \b
    Example:
      insync kafka trace DIR
      insync check DIR/trace
    """
    from conformance.kafka.trace import write_trace
    from conformance.kafka.transactions import WrongLog

    lab = _lab(folder)
    with _changing(folder):
        try:
            files = write_trace(lab)
        except WrongLog as error:
            raise WrongUse(str(error)) from error
    counts = {one.name: sum(1 for _ in one.open(encoding="utf-8")) - 2 for one in files}
    for name, lines in counts.items():
        say(f"{name}: {lines:,} lines", json_target)
    say(f"judge it: insync check {folder / 'trace'}", json_target)
    emit_json(json_target, {"folder": lab.folder / "trace", "lines": counts})


@kafka.command()
@FOLDER
@click.option("--version", metavar="V", default=DEFAULT, show_default=True, help="The release.")
@HOME
@click.option("--rounds", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="How many clusters, one after the other.")  # fmt: skip
@click.option("--faults", type=click.IntRange(1), default=10, show_default=True, metavar="N",
              help="How many faults each cluster has.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, metavar="S",
              help="The seed of the faults.")  # fmt: skip
@click.option("--clients", "named", is_flag=False, flag_value=OURS, metavar="[C,C]",
              help="Writers and readers as in chaos, of librdkafka and others, ours by default; "
                   "what they saw is judged too.")  # fmt: skip
@click.option("--keep-all", "keep", is_flag=True, cls=RenamedOption, former="--keep",
              help="Keep logs and traces of rounds that hold, too.")  # fmt: skip
@click.option("--again", is_flag=True,
              help="Judge the rounds in DIR again, and start none.")  # fmt: skip
@json_option
def soak(
    folder: Path, version: str, home: Path | None, rounds: int, faults: int, seed: int,
    named: str | None, keep: bool, again: bool, json_target: str | None,
) -> None:  # fmt: skip
    """Inject random faults into real Kafka while records are written, and judge every line of it.

    A round starts three brokers in DIR/round-N. Processes are killed and paused, sessions end,
    messages between brokers, of the controller and to ZooKeeper are held or lost; what is done
    follows from the seed. Then the round's trace is replayed on the model (insync kafka trace).
    DIR/rounds.jsonl has a line a round: a soak that was interrupted goes on where it ended. Logs
    and traces of rounds with findings stay.

    With --clients plain and idempotent producers and a group of consumers are at work, topics want
    two replicas in sync, and the clients' history is judged as that of insync chaos: records that
    were acknowledged and are lost, read twice, passed over. It is in DIR/round-N/clients.json.

    Exit code 0: every line of every round is a step of the model, and clients saw what they may;
    1: one is not, or they did not; 2: a line is missing that would say; 3: nothing was compared.

    \b
    Example:
      insync kafka soak DIR --version 2.8.2 --rounds 10 --seed 7
      insync kafka soak DIR --version 2.3.1 --faults 5 --json -
      insync kafka soak DIR --version 2.8.2 --seed 7 --again
      insync kafka soak DIR --version 2.3.1 --clients
      insync kafka soak DIR --version 2.3.1 --clients librdkafka,aiokafka
      insync check DIR/round-1/trace
    """
    from conformance.kafka.soak import (
        OtherSoak,
        SoakPlan,
        SoakRound,
        judged_again,
        rounds_in,
        summary,
        verdict_of,
    )
    from conformance.kafka.soak import soak as soaked

    def report(one: SoakRound) -> None:
        undone = f", {len(one.undone)} lines of the schedule not done" if one.undone else ""
        say(f"round {one.number}: {one.verdict}; {len(one.faults)} faults{undone}, "
            f"{one.acknowledged} records acknowledged, {one.explained:,} of {one.lines:,} lines "
            f"explained, {one.seconds:.0f} s", json_target)  # fmt: skip
        for found in one.findings:
            place = f"{Path(found['file']).name}:{found['line']}"
            say(f"  {found['kind']}: {place}: {found['why']}", json_target)
        if one.clients:
            counts = one.clients["counts"]
            say(f"  clients: {one.clients['verdict']}; {counts['acknowledged']:,} of "
                f"{counts['sent']:,} records acknowledged, {counts['read']:,} read, "
                f"{counts['found']:,} in the log", json_target)  # fmt: skip
            for anomaly in one.clients["anomalies"]:
                say(f"  {anomaly['kind']}: partition {anomaly['partition']}, offset "
                    f"{anomaly['offset']}: {anomaly['why']}", json_target)  # fmt: skip
            if one.clients["unfinished"]:
                say(f"  {one.clients['unfinished']}", json_target)

    interrupts.end_as_usual()
    logging.getLogger("kazoo").disabled = True
    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    with _changing(folder), Progress() as progress:
        try:
            clients = clients_named(named) if named is not None else ()
        except WrongClients as error:
            raise WrongUse(f"--clients: {error}") from error
        plan = SoakPlan(release_of(version), rounds, seed, faults, home, keep, clients)
        if (why := plan.release.why_no_trace) is not None:
            raise WrongUse(f"--version {version}: {why}; write --version 2.8.2")
        if not again:
            libs_of(plan.release, home)
        try:
            done = rounds_in(folder, plan)
        except OtherSoak as error:
            raise WrongUse(str(error)) from error
        if again:
            done = judged_again(folder, done)
        for one in done:
            report(one)
        try:
            for one in () if again else soaked(folder, plan, progress):
                progress.wipe()
                report(one)
                done.append(one)
        except KeyboardInterrupt:
            interrupts.report(f"{len(done)} rounds are in {folder}; the same command goes on")
            sys.exit(INTERRUPTED)
    found = summary(plan, done)
    say(f"{found['verdict']}: Kafka {version}, {found['rounds']} rounds, {found['faults']} faults, "
        f"{found['explained']:,} of {found['lines']:,} lines explained "
        f"({100 * found['share']:.1f} %), {found['steps']:,} steps", json_target)  # fmt: skip
    for rule, count in found["findings"].items():
        say(f"  {count} x {rule}", json_target)
    if found["bugs"]:
        bugs = ", ".join(f"{count:,} x {bug}" for bug, count in found["bugs"].items())
        say(f"  known bugs of Kafka that were seen: {bugs}", json_target)
    emit_json(json_target, found)
    finish(verdict_of(done))


@kafka.command()
@FOLDER
@click.option("--version", metavar="V", default=DEFAULT, show_default=True, help="The release.")
@click.option("--brokers", type=click.IntRange(1, MOST_BROKERS - 1), default=2, show_default=True,
              metavar="N", help="How many brokers of Kafka.")  # fmt: skip
@click.option("--insync-brokers", "ours", cls=RenamedOption, former="--ours",
              type=click.IntRange(1, MOST_BROKERS - 1), default=1, show_default=True,
              metavar="N", help="How many of ours.")  # fmt: skip
@HOME
@json_option
def mixed(
    folder: Path, version: str, brokers: int, ours: int, home: Path | None, json_target: str | None
) -> None:
    """Run brokers of Kafka and ours as one cluster, each controller, leader and follower in turn.

    A real client (kafka-python) writes with acks=all to a partition that each broker leads, another
    reads in a group, and meanwhile a fixed course is gone through, under a controller of ours and
    then under one of Kafka's: each broker is killed, stopped and started, its session ends, leaders
    are elected, replicas move away and back, a topic comes and goes. After each step all replicas
    have to come into sync, and all partitions to take records. At the end the logs of all replicas
    are compared byte by byte, and each record that was acknowledged is looked for in them.

    DIR is new, and stays: logs, disks, what passed the proxies.

    Exit code 0: all went well. 1: it did not; each thing that went wrong is a line. 3: nothing was
    acknowledged or compared.

    \b
    Example:
      insync kafka mixed DIR --version 2.3.1
      insync kafka mixed DIR --version 1.1.1 --brokers 1 --insync-brokers 2 --json -
    """
    from conformance.kafka.mixed import NoClient, run_mixed_cluster

    if brokers + ours > MOST_BROKERS or brokers + ours < LEAST_MIXED:
        raise WrongUse(
            f"--brokers {brokers} --insync-brokers {ours}: a mixed cluster has {LEAST_MIXED} to "
            f"{MOST_BROKERS} brokers"
        )
    if folder.exists() and any(folder.iterdir()):
        raise WrongUse(f"{folder} is there already; name a new directory")
    for name in ("kazoo", "kafka"):
        logging.getLogger(name).disabled = True
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        stack.enter_context(ends_as_interrupt())
        stack.enter_context(_refusals())
        release = release_of(version)
        progress = stack.enter_context(Progress())
        try:
            report = run_mixed_cluster(folder, release, brokers, ours, home, progress)
        except NoClient as error:
            raise WrongUse(str(error)) from error
    for step in report.steps:
        leaders = ", ".join(f"{n}: {one}" for n, one in step["leaders"].items())
        say(f"{step['step']}: in sync after {step['seconds']:.1f} s; controller "
            f"{step['controller']}, leaders {leaders}", json_target)  # fmt: skip
    for text in report.wrong:
        say(f"wrong: {text}", json_target)
    say(f"{report.verdict.value}: Kafka {release.text} is {_listed(report.kafka)}, ours "
        f"{_listed(report.ours)}; {len(report.steps)} steps, {report.acknowledged:,} records "
        f"acknowledged, {report.refused} without an answer, {report.consumed:,} read, "
        f"{report.bytes_compared:,} bytes equal on all replicas, {report.seconds:.0f} s",
        json_target)  # fmt: skip
    emit_json(json_target, as_data(report))
    finish(report.verdict)


def _listed(ids: list[int]) -> str:
    return " and ".join(str(one) for one in ids)


# What the commands share


def _lab(folder: Path) -> Lab:
    try:
        return Lab(folder)
    except ClusterError as error:
        raise WrongUse(str(error)) from error


def _status(lab: Lab) -> dict[str, Any]:
    processes = states_of(lab, lab.names())
    for broker, ports in lab.state.ports.items():
        processes[f"broker{broker}"] |= {"port": ports[1], "ours": lab.is_ours(broker)}
    return {
        "format": "insync.kafka_status/1",
        "folder": lab.folder,
        "version": lab.state.version,
        "zookeeper": f"{LOOPBACK}:{lab.state.zookeeper}",
        "processes": processes,
        "controller": _controller(lab),
        "logs": lab.folder / "logs",
        "trace": lab.folder / "trace",
    }


def _controller(lab: Lab) -> int | None:
    if lab.pid(ZOOKEEPER) is None or lab.paused(ZOOKEEPER):
        return None
    return controller_of(lab.state.zookeeper)


_WRONG = NoRelease, NotDownloaded, NoJava, ClusterError, OSError


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    """What cannot be done becomes one line."""
    try:
        yield
    except _WRONG as error:
        raise WrongUse(str(error)) from error


def _changing(folder: Path) -> AbstractContextManager[None]:
    return locked(folder, STATE, *_WRONG)


def _title(lab: Lab) -> str:
    return f"Kafka {lab.state.version}, ZooKeeper at {LOOPBACK}:{lab.state.zookeeper}"


def _stopped(lab: Lab, broker: str | None) -> list[str]:
    if broker is None:
        return lab.stop()
    name = lab.name_of(broker)
    ended = [name] if lab.pid(name) is not None else []
    lab.end(ended, signal.SIGTERM, 30.0)
    return ended


add_process_commands(kafka, _lab, _changing, _title, _status, _stopped)
