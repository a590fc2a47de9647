"""Steps of a world that must be possible, and the ways to a controller and to a leader."""

from __future__ import annotations

from impl import Step, World


def take(world: World, *steps: str) -> None:
    """Take steps written as ``name 1 2``."""
    for text in steps:
        name, *args = text.split()
        world.do(Step(name, tuple(int(value) for value in args)))


ELECT_CONTROLLER = (
    "controller_reads_epoch {0}",
    "controller_registers {0}",
    "controller_learns_outcome {0}",
    "controller_reads_partition {0}",
)


def with_controller(broker: int = 1, brokers: int = 3) -> World:
    world = World(brokers)
    take(world, *(text.format(broker) for text in ELECT_CONTROLLER))
    return world


def with_leader(leader: int = 1) -> World:
    """Broker 1 is the controller; everybody knows that ``leader`` leads epoch 1."""
    world = with_controller()
    take(world, f"controller_elects_leader 1 {leader}")
    take(world, *(f"leader_and_isr_arrives {broker} 1 1" for broker in world.brokers))
    return world


def fetch(world: World, follower: int, leader: int) -> None:
    take(
        world,
        f"follower_asks_records {follower}",
        f"leader_answers_fetch {leader} {follower}",
        f"follower_appends {follower} {leader}",
    )


def shrink(world: World, leader: int, replica: int) -> None:
    """The leader drops a replica, and hears that it is done."""
    take(world, f"leader_shrinks_isr {leader} {replica}", f"leader_learns_isr_is_written {leader}")


def replace_session(world: World, broker: int) -> None:
    take(world, f"session_expires {broker}", f"broker_reconnects {broker}")
