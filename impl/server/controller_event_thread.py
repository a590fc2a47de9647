"""A broker's event thread: its session with ZooKeeper, its registration, its controller.

Only this thread accesses the controller. Watch notifications, responses of brokers and timers are
events, handled one after the other. An expired session interrupts this at once; then the broker
registers again and runs for controller. Source: KafkaController, ControllerEventManager,
KafkaZkClient; fact sheet b.4, i.6, k.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from impl.core.controller_parts import ControllerConfig
from impl.core.event_controller import EventController
from impl.core.event_manager import ControllerEventManager
from impl.core.replica_manager import Answered
from impl.core.requests import Request
from impl.server.channels import BrokerChannels
from impl.server.controller_api import ControllerRequests
from impl.server.controller_lines import ControllerLines
from impl.server.log4j_files import Log4jFiles
from impl.server.properties import BrokerProperties
from impl.server.replicas import now_ms
from impl.server.topic_configs import TopicConfigs, UncleanTopics
from impl.server.trace import BrokerTrace
from impl.server.traced_controller import TracedController
from impl.znodes import BrokerInfo, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import ConnectionLoss, NodeExists, SessionExpired, ZooKeeperError
from impl.zookeeper.port import Port, wait

POLL_S = 0.03
FIRST_REBALANCE_S = 5.0


class ControllerEventThread(threading.Thread):
    """Handles the controller's events. ``open_session`` opens a new session; ``configs_changed``
    gets the type ("topics", "brokers") and the name of each entity whose configs changed."""

    def __init__(
        self,
        broker: int,
        port: Port,
        config: BrokerProperties,
        files: Log4jFiles,
        info: BrokerInfo,
        configs: TopicConfigs,
        open_session: Callable[[], Port],
        configs_changed: Callable[[str, str], None],
        trace: BrokerTrace | None = None,
    ) -> None:
        super().__init__(name="controller-event-thread", daemon=True)
        self.broker = broker
        self.config = config
        self.files = files
        self.info = info
        self.configs = configs
        self.open_session = open_session
        self.configs_changed = configs_changed
        self.port = port
        self.client = ZnodeClient(port, config.release)
        self.epoch = -1  # the broker's: the czxid of its registration
        self.news = threading.Condition()
        self.ended = threading.Event()
        self.trace = trace
        self.lines = ControllerLines(files) if trace is None else TracedController(files, trace)
        patience_s = config.whole_number("controller.socket.timeout.ms") / 1000
        self.channels = BrokerChannels(files, patience_s, self._answered)
        self.events = ControllerEventManager(
            self._fresh_controller(), self.channels, self._event_failed
        )
        self.requests = ControllerRequests(self._put_request)
        self.next_rebalance = time.monotonic() + FIRST_REBALANCE_S
        self._notices: set[str] = set()

    def _fresh_controller(self) -> EventController:
        settings = ControllerConfig(
            unclean_leader_election=self.config.truth("unclean.leader.election.enable"),
            delete_topics=self.config.truth("delete.topic.enable"),
            imbalance_percentage=self.config.whole_number("leader.imbalance.per.broker.percentage"),
            unclean_topics=UncleanTopics(self.configs, lambda: self.client),
        )
        controller = EventController(
            self.broker,
            self.port,
            self.config.release,
            self.channels.send_round,
            settings,
            self.lines,
            self.config.protocol,
        )
        self.channels.context = controller.core.context
        if isinstance(self.lines, TracedController):
            self.lines.controller = controller
        return controller

    @property
    def current_controller(self) -> EventController:
        """The controller of the broker's current session."""
        return self.events.controller

    # Registration

    def register(self, earlier_session: int = 0) -> None:
        """Create ``/brokers/ids/N``; NodeExists if another broker has the id.

        The registration of a killed process stays until its session expires. This method waits for
        that, as an operator who restarts Kafka has to.
        """
        self.files.broker_registering()
        deadline = (
            time.monotonic() + self.config.whole_number("zookeeper.session.timeout.ms") / 1000 + 2
        )
        while True:
            try:
                self.epoch = wait(
                    self.client.register_broker(
                        self.broker, self.info, earlier_session, self.config.protocol
                    )
                )
                break
            except NodeExists:
                if time.monotonic() > deadline or self.ended.is_set():
                    raise
                time.sleep(0.1)
        if self.trace is not None:
            self.trace.file.line("registered", {"epoch": self.epoch, "session": self.port.session})
        host, port = self.info.plaintext
        self.files.broker_registered(host, port, self.epoch)

    def begin(self) -> None:
        """Watch config changes and run for controller; call before the thread handles events."""
        self._watch_configs()
        self._elect()

    def _elect(self) -> None:
        wait(self.current_controller.elect(now_ms()))

    def _watch_configs(self) -> None:
        names = set(wait(self.client.names(paths.CONFIG_CHANGES, watch=True)))
        for name in sorted(names - self._notices):
            news = self.configs.read_change(self.client, name)
            if news is not None:
                self.configs_changed(*news)
        self._notices = names

    # The thread

    def run(self) -> None:
        """Handle events until the thread is stopped."""
        self._thread_line("Starting")
        while not self.ended.is_set():
            try:
                self._run_once()
            except SessionExpired:
                self._begin_anew()
            except ConnectionLoss:
                self.ended.wait(0.2)
            except Exception as error:
                self._event_failed("event", error)
        self._thread_line("Stopped")
        if self.current_controller.active:
            wait(self.current_controller.resign())
        else:  # KafkaController.shutdown resigns as controller even if it is none
            self.lines.resigns()
        self.channels.close()

    def _thread_line(self, text: str) -> None:
        if not self.config.release.since("1.0"):
            if text == "Starting" and not self.config.release.since("0.11"):
                self.files.controller("Controller starting up")
            return
        head = f"[ControllerEventThread controllerId={self.broker}] "
        logger = "kafka.controller.ControllerEventManager$ControllerEventThread"
        self.files.line("controller.log", "INFO", head + text, logger)

    def _run_once(self) -> None:
        """Queue what ZooKeeper and the clock bring, and handle all that waits."""
        with self.news:
            if not self.events.waiting:
                self.news.wait(POLL_S)
        for event in self.port.events():
            if event.path == paths.CONFIG_CHANGES:
                self.put(event.path, self._watch_configs)
            else:
                self.events.notified(event, now_ms())
        if time.monotonic() >= self.next_rebalance:
            self._rebalance()
        while self.events.waiting and not self.ended.is_set():
            wait(self.events.handle_next())
            if not self.port.alive:
                break
        if not self.port.alive:
            raise SessionExpired("the session is over")

    def put(self, name: str, work: Callable[[], None]) -> None:
        """Queue a function for this thread; callable from any thread."""

        async def done(controller: EventController) -> None:
            work()

        with self.news:
            self.events.put(name, done)
            self.news.notify_all()

    def _put_request(self, work: Callable[[EventController], None]) -> None:
        self.put("request", lambda: work(self.current_controller))

    def _event_failed(self, name: str, error: Exception) -> None:
        """An event failed: it is logged, and the thread takes the next one, as in Kafka."""
        wait(self.lines.event_failed(name, f"{type(error).__name__}: {error}"))

    def _rebalance(self) -> None:
        every = self.config.whole_number("leader.imbalance.check.interval.seconds")
        self.next_rebalance = time.monotonic() + every
        if self.config.truth("auto.leader.rebalance.enable"):
            self.events.put("AutoPreferredReplicaLeaderElection", _rebalanced)

    def _begin_anew(self) -> None:
        """The session expired: resign, then register under a new one, and stand again."""
        wait(self.events.expire())
        self.files.session_expired()
        earlier = self.port.session
        self.port.close()
        while not self.ended.is_set():
            try:
                self.port = self.open_session()
                self.client = ZnodeClient(self.port, self.config.release)
                self.events.controller = self._fresh_controller()
                self.register(earlier)
                self.begin()
                return
            except (ZooKeeperError, ConnectionLoss) as error:
                self.files.insync_line(f"No session with ZooKeeper yet: {error}")
                self.ended.wait(0.2)

    # What others bring

    def _answered(self, broker: int, request: Request, answer: Answered) -> None:
        """A broker's answer, in its channel's thread: made an event."""
        with self.news:
            self.events.answered(broker, request, *answer)
            self.news.notify_all()

    def stop(self) -> None:
        """End the thread; the caller that opened the session closes it."""
        self.ended.set()
        with self.news:
            self.news.notify_all()


async def _rebalanced(controller: EventController) -> None:
    await controller.guarded(controller.rebalance)
