# A leader expands the ISR, misses the response, and still waits for the new member.
# Shows: what is committed is in every ISR that may be registered, as KIP-497 has it from 2.7; up to
# 2.6 it is an assumption, that no such answer is lost for good (lost_isr_answer_blocks).
system replication version 2.7 brokers 2

# As in the story lost_isr_answer_commits_alone, up to the answer that is lost.
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly follower_sends_fetch broker=2 leader=1
quietly leader_answers_fetch leader=1 follower=2
quietly leader_appends_acks_all broker=1
quietly leader_shrinks_isr leader=1 replica=2
quietly leader_learns_isr_is_written leader=1
quietly leader_expands_isr leader=1 replica=2
quietly controller_reads_partition broker=1
quietly controller_elects_leader broker=1 leader=2
isr_answer_is_lost leader=1
leader_learns_isr_is_refused leader=1
show replica[1].isr
----
isr_answer_is_lost(leader=1)
    isr_write[1].state: applied → refused
    isr_write[1].version: 3 → 0
leader_learns_isr_is_refused(leader=1)
    replica[1].isr: {1} → {1,2}
    isr_write[1].state: refused → none
    isr_write[1].isr: {1,2} → {}
    isr_write[1].state_epoch: 1 → 0
replica[1].isr: {1,2}

# The record is not in the log of broker 2: it is not committed, and nobody is notified that it was.
refused leader_advances_hw broker=1
refused leader_acknowledges_acks_all broker=1 offset=0
check no_message_loss
check acknowledged_is_never_lost
----
refused leader_advances_hw(broker=1)
    every ISR member is beyond the HW — false (log[1].end 1, replica[1].hw 0)
refused leader_acknowledges_acks_all(broker=1, offset=0)
    the high watermark has passed it — false (replica[1].hw 0)
no_message_loss: holds
acknowledged_is_never_lost: holds

# Broker 2 leads, and the record goes; its producer was promised nothing, and sends it again.
quietly broker_becomes_leader broker=2 epoch=2 controller=1
quietly broker_becomes_follower broker=1 epoch=2 controller=1
quietly follower_sends_epoch_request broker=1 leader=2
quietly leader_answers_epoch leader=2 follower=1
follower_truncates follower=1 leader=2
show log
check no_message_loss
check acknowledged_is_never_lost
----
follower_truncates(follower=1, leader=2)
    replica[1].latest_epoch: 1 → none
    replica[1].truncating: true → false
    log[1]: [id 0 epoch 1] → []
    fetch[1][2].state: epoch_is_answered → idle
    fetch[1][2].epoch: 2 → none
    fetch[1][2].answer_epoch: 1 → none
    fetch[1][2].answer_end: 0 → none
log[1]: []
log[2]: []
no_message_loss: holds
acknowledged_is_never_lost: holds
