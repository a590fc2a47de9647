"""The offset to which a follower truncates: the outcome of KIP-279's requests and answers.

The exchange itself (last epoch, its end, ask again) is proved to refine the two answers here: an
answer never truncates records that both logs have, and after a final answer the remaining records
are common to both logs.
"""

from model.language import (
    BLANK,
    all_of,
    below,
    every,
    implies,
    not_,
    require,
    smaller,
    transition,
    version,
)
from model.replication.history.state import BROKERS, ENDS, OFFSETS


def truncates_by_epoch(v):
    return v.truncation != "hw"


def keeps_what_is_common(now, leader, follower, cut):
    """Nothing is cut that both logs have."""
    theirs, mine = now.log[leader], now.log[follower]
    return every(below(OFFSETS, mine.end), lambda o: implies(
        all_of(o < theirs.end, mine[o] == theirs[o]), o < cut))


def require_may_answer_truncation(now, leader, follower, cut):
    mine = now.replica[follower]
    require(mine.role == "truncating",              "the follower looks for where to cut")
    require(now.replica[leader].role == "leading",  "the broker asked believes it leads")
    if version.fetch_fencing:                       # KIP-320
        require(now.replica[leader].epoch == mine.epoch,
                                                    "it leads in the follower's epoch")
    else:
        require(now.request[mine.epoch].named,      "the follower was notified of a leader")
        require(now.request[mine.epoch].leader == leader,
                                                    "it is the leader that the request names")
    require(cut <= now.log[follower].end,           "the cut is in the follower's log")
    require(keeps_what_is_common(now, leader, follower, cut),
                                                    "nothing is cut that both logs have")


@transition(only=truncates_by_epoch, leader=BROKERS, follower=BROKERS, cut=ENDS)
def leader_answers_truncation_offset(now, new, leader, follower, cut):
    """The leader's answer lets the follower find the end of what both logs have."""
    require_may_answer_truncation(now, leader, follower, cut)
    require(cut <= now.log[leader].end,             "the cut is in the leader's log")
    require(every(below(OFFSETS, cut), lambda o: now.log[follower][o] == now.log[leader][o]),
                                                    "below it both logs are the same")

    new.answer[follower] = {"given": True, "agreed": True, "cut": cut}


@transition(only=truncates_by_epoch, leader=BROKERS, follower=BROKERS, cut=ENDS)
def leader_answers_unknown_epoch(now, new, leader, follower, cut):
    """The answer is of an epoch that the follower does not know: it cuts, and will ask again.

    Why: KIP-279, after two fast elections one answer is not enough.
    """
    require_may_answer_truncation(now, leader, follower, cut)

    new.answer[follower] = {"given": True, "agreed": False, "cut": cut}


def cut_log(now, new, follower, role):
    cut = now.answer[follower].cut
    new.log[follower]     = now.log[follower].cut(cut)
    new.replica[follower] = now.replica[follower].but(
        role=role, hw=smaller(now.replica[follower].hw, cut))
    new.answer[follower]  = BLANK


@transition(only=truncates_by_epoch, follower=BROKERS)
def follower_truncates(now, new, follower):
    """The follower cuts its log by the answer, and begins to fetch."""
    require(now.answer[follower].given,             "the leader answered")
    require(now.answer[follower].agreed,            "the rest is common to both logs")

    cut_log(now, new, follower, "following")


@transition(only=truncates_by_epoch, follower=BROKERS)
def follower_truncates_and_asks_again(now, new, follower):
    """The follower cuts its log by the answer, and has to ask again."""
    require(now.answer[follower].given,             "the leader answered")
    # redundant because to ask once more than needed does no harm.
    require(not_(now.answer[follower].agreed),      "the rest may not be common to both logs")

    cut_log(now, new, follower, "truncating")


@transition(ends="lost", fault=True, only=truncates_by_epoch, follower=BROKERS)
def epoch_answer_is_lost(now, new, follower):
    """The answer is lost; the follower will ask again."""
    # redundant because without an answer nothing is lost.
    require(now.answer[follower].given,             "the leader answered")

    new.answer[follower] = BLANK


@transition(only=lambda v: not truncates_by_epoch(v), follower=BROKERS)
def follower_truncates_to_hw(now, new, follower):
    """The follower truncates its log to its high watermark, without a request to the leader.

    Why:   the HW is a round behind: what it cuts may be committed (KIP-101).
    Kafka: up to 0.10
    """
    mine = now.replica[follower]
    require(mine.role == "truncating",              "the follower looks for where to cut")

    new.log[follower]          = now.log[follower].cut(mine.hw)
    new.replica[follower].role = "following"
