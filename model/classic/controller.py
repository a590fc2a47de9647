"""The steps that all five designs share: the controller, electing leaders, writing."""

from model.classic.definitions import ALL_RECORDS, LAST_EPOCH, LOG_SIZE, presumes_leadership
from model.classic.state import EPOCHS, REPLICAS
from model.language import all_of, any_of, require, transition, when


def send(now, new, leader, isr):
    """Registers a leader and an ISR under the next epoch, and sends them as a request."""
    new.next_epoch              = now.next_epoch + 1
    new.quorum                  = now.quorum.but(epoch=now.next_epoch, leader=leader, isr=isr)
    new.request[now.next_epoch] = {"leader": leader, "isr": isr}


@transition(replica=REPLICAS)
def controller_elects_leader(now, new, replica):
    """The controller makes another ISR member the leader."""
    require(now.next_epoch <= LAST_EPOCH,       "an unused leader epoch is left")
    require(now.quorum.isr.has(replica),        "the replica is in the registered ISR")
    # redundant because electing the leader once more is as safe as electing another.
    require(now.quorum.leader != replica,       "the replica is not the leader already")

    send(now, new, replica, now.quorum.isr)


@transition(replica=REPLICAS)
def controller_drops_replica(now, new, replica):
    """A replica fails or shuts down: the controller removes it as leader and from the ISR."""
    leads = now.quorum.leader == replica
    alone = all_of(leads, now.quorum.isr.is_only(replica))
    require(now.next_epoch <= LAST_EPOCH,                     "an unused leader epoch is left")
    # redundant because an epoch that changes nothing else is as safe as any other.
    require(any_of(leads, now.quorum.isr.has(replica)),       "the replica leads or is in the ISR")

    send(now, new,
         leader=when(leads, None, now.quorum.leader),
         isr=when(alone, now.quorum.isr, now.quorum.isr.without(replica)))


@transition(replica=REPLICAS, epoch=EPOCHS)
def becomes_leader(now, new, replica, epoch):
    """A replica takes up a request that names it the leader."""
    # redundant because a request that was not sent names nobody.
    require(epoch < now.next_epoch,                     "a request of this epoch was sent")
    require(now.request[epoch].leader == replica,       "the request names the replica the leader")
    require(now.view[replica].epoch < epoch,            "the request is newer than its own epoch")

    new.view[replica] = now.view[replica].but(
        epoch=epoch, leader=replica, isr=now.request[epoch].isr)


@transition(shows="produce", leader=REPLICAS)
def leader_writes(now, new, leader):
    """A producer's record is appended by a replica that believes it leads."""
    log = now.log[leader]
    require(presumes_leadership(now, leader),       "the replica presumes leadership")
    require(now.next_record < ALL_RECORDS,          "a record is left to write")
    require(log.end < LOG_SIZE,                     "the log is not full")

    new.log[leader]  = log.append(id=now.next_record, epoch=now.view[leader].epoch)
    new.next_record  = now.next_record + 1


SHARED = (controller_elects_leader, controller_drops_replica, becomes_leader, leader_writes)
