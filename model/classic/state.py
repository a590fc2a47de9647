"""One partition without ZooKeeper: the state that all five published designs share."""

from model.language import (
    Bounded,
    Enumeration,
    LogOf,
    Numbers,
    Record,
    SetOf,
    per,
)

REPLICAS = Enumeration("replica", "brokers")
EPOCHS   = Numbers("epoch", 0, Bounded("epoch"), beyond="raise")
RECORDS  = Numbers("record", 0, Bounded("records", -1), beyond="raise")
OFFSETS  = Numbers("offset", 0, Bounded("log", -1), beyond="raise")
ENDS     = Numbers("end", 0, Bounded("log"), beyond="raise")

NEXT_RECORD = Numbers("next record", 0, Bounded("records"), beyond="raise")
NEXT_EPOCH  = Numbers("next epoch", 0, Bounded("epoch", 1), beyond="raise")

STATE = Record(
    log=per(REPLICAS, LogOf(OFFSETS, ENDS, Record(id=RECORDS, epoch=EPOCHS))),
    view=per(REPLICAS, Record(                    # what a replica believes
        hw=ENDS,
        epoch=EPOCHS.or_none,
        leader=REPLICAS.or_none,
        isr=SetOf(REPLICAS))),
    next_record=NEXT_RECORD,
    next_epoch=NEXT_EPOCH,
    quorum=Record(                                # what is registered
        epoch=EPOCHS.or_none,
        leader=REPLICAS.or_none,
        isr=SetOf(REPLICAS)),
    # Every LeaderAndIsr ever sent. An epoch is used once, so the epoch names the request;
    # the requests sent are those of the epochs below next_epoch.
    request=per(EPOCHS, Record(leader=REPLICAS.or_none, isr=SetOf(REPLICAS))),
)
