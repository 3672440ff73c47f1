"""Shows that the models bite: weaken.py [NAME...]

Each line below weakens one memory order or removes one look in a copy of the headers, builds the
model against the copy and runs it. A model that still passes has not seen the change: that is an
error, unless the line says why it must survive (`survives`). docs/design/memory-model.md has the
table. Needs g++ and relacy-dev; takes some minutes."""

import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hang_limit import HANG_LIMIT_S

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARKER, READY = "src/base/parker.hpp", "src/core/ready/ready_queue.hpp"
SLEEPERS, WORDS = "src/core/seats/sleepers.hpp", "src/core/slots/words.hpp"
SLOT, SHOWN = "src/core/slots/slot.hpp", "src/core/task/shown_frame.hpp"
FORK = "include/braid/core/fork_stack.hpp"
BOUNDED = "include/braid/base/bounded_queue.hpp"
FLOW = "include/braid/fork_join/pipeline_flow.hpp"

RANKS = "src/graph/ready_ranks.hpp"
FEED = "src/job_list/job_feed.hpp"
RING = "src/profile/record_ring.hpp"
COMPLETION = "src/core/life/completion_word.hpp"
AWAIT = "src/core/slots/await_words.hpp"
TICKET = "src/device/ticket_words.hpp"
USE = "src/pages/use_words.hpp"
LOT, EVENT = "src/core/seats/parking_lot.hpp", "src/core/task/event_word.hpp"

# name: (file, text, replacement, model, survives)
WEAKENED = {
    "lot.leave looks again under the lock": (
        LOT, "        if (r.done.load(relaxed)) return true;  // the lock orders it\n", "",
        "parking_lot", None),
    "lot.leave says whether it was woken": (
        LOT, "if (r.done.load(acquire)) return true;\n        bucket",
        "if (r.done.load(acquire)) return false;\n        bucket", "parking_lot", None),
    "event.set release": (
        EVENT, "fetch_or(event_set, acq_rel)", "fetch_or(event_set, relaxed)", "parking_lot", None),
    "event.take_or_mark acquire": (
        EVENT, "wanted, acquire, acquire)) return take;", "wanted, relaxed, relaxed)) return take;",
        "parking_lot", None),
    "shown.show release": (
        SHOWN, "task_.store(task, release)", "task_.store(task, relaxed)", "shown_frame", None),
    "shown.begin_wait says the wait: release": (
        SHOWN, "several_bit : 0), release)", "several_bit : 0), relaxed)", "shown_frame", None),
    "shown.begin_wait says what for: release": (
        SHOWN, "awaited_.store(awaited, release)", "awaited_.store(awaited, relaxed)",
        "shown_frame", None),
    "shown.wait acquire": (
        SHOWN, "wait_.load(acquire)", "wait_.load(relaxed)", "shown_frame", None),
    "shown.task acquire": (
        SHOWN, "task_.load(acquire)", "task_.load(relaxed)", "shown_frame", None),
    "shown.awaited acquire": (
        SHOWN, "awaited_.load(acquire)", "awaited_.load(relaxed)", "shown_frame", None),
    "shown.cover": (SHOWN, "wait_.load(relaxed) + one_cover, release)",
                    "wait_.load(relaxed), release)", "shown_frame", None),
    "shown.look: a cover is another wait": (
        SHOWN, "if (!Frame::is_same(frame.wait(), wait)) return;",
        "if (frame.wait() != wait) return;", "shown_frame", None),
    "shown.look: the frame that waits": (
        SHOWN, "        if (!Frame::is_same(frame.wait(), wait)) return;\n", "", "shown_frame", None),
    "shown.look: the member's frame": (
        SHOWN, "        if (is_above && member->wait() != wait_of_member) return;\n",
        "        (void)is_above;\n        (void)wait_of_member;\n",
        "shown_frame", None),
    "ring.end_push release": (
        RING, "head_.load(relaxed) + 1, release)", "head_.load(relaxed) + 1, relaxed)",
        "record_ring", None),
    "ring.begin_push acquire": (
        RING, "tail_.load(acquire)", "tail_.load(relaxed)", "record_ring", None),
    "ring.pop acquire": (
        RING, "head_.load(acquire)", "head_.load(relaxed)", "record_ring", None),
    "ring.pop release": (
        RING, "tail_.store(end, release)", "tail_.store(end, relaxed)", "record_ring", None),
    "ring.begin_push counts one too many": (
        RING, "at - tail_seen_ > mask_) {\n                // relaxed",
        "at - tail_seen_ > mask_ + 1) {\n                // relaxed", "record_ring", None),
    "feed.take acquire": (
        FEED, "fetch_.fetch_add(1, acquire)", "fetch_.fetch_add(1, relaxed)", "job_feed", None),
    "feed.open release": (
        FEED, "seq_cst, relaxed)) {\n        }", "relaxed, relaxed)) {\n        }", "job_feed", None),
    "feed.open seq_cst": (
        FEED, "seq_cst, relaxed)) {\n        }", "acq_rel, relaxed)) {\n        }", "job_feed", None),
    "feed.open counts too far": (
        FEED, "word(std::min(next(seen), limit(seen)), to)", "word(next(seen), to)", "job_feed",
        None),
    "feed.finish release": (
        FEED, "fetch_sub(jobs, acq_rel)", "fetch_sub(jobs, acquire)", "job_feed", None),
    "feed.finish acquire": (
        FEED, "fetch_sub(jobs, acq_rel)", "fetch_sub(jobs, release)", "job_feed", None),
    "feed.leave count seq_cst": (
        FEED, "idle_.fetch_add(1, seq_cst)", "idle_.fetch_add(1, acq_rel)", "job_feed", None),
    "feed.leave look seq_cst": (
        FEED, "fetch_.load(seq_cst)", "fetch_.load(acquire)", "job_feed", None),
    "feed.take_idle seq_cst": (
        FEED, "idle_.load(seq_cst)", "idle_.load(acquire)", "job_feed", None),
    "feed.leave looks before": (
        FEED, "idle_.fetch_add(1, seq_cst);\n        const std::uint64_t seen = fetch_.load(seq_cst);",
        "const std::uint64_t seen = fetch_.load(seq_cst);\n        idle_.fetch_add(1, seq_cst);",
        "job_feed", None),
    "feed.segments not chained": (
        FEED, "to - from + 1, relaxed", "to - from + (i == 0 ? 1 : 0), relaxed", "job_feed", None),
    "feed.take_idle by store": (
        FEED, "if (idle_.compare_exchange_weak(seen, seen - 1, relaxed, relaxed)) return true;",
        "idle_.store(seen - 1, relaxed); return true;", "job_feed", None),
    "ranks.add release": (
        RANKS, "fetch_or(bit_of(rank), release)", "fetch_or(bit_of(rank), relaxed)",
        "ready_ranks", None),
    "ranks.take acquire": (
        RANKS, "fetch_and(~bit_of(rank), acquire)", "fetch_and(~bit_of(rank), relaxed)",
        "ready_ranks", None),
    "ranks.take looks who had it": (
        RANKS, "if (take(rank)) return rank;", "take(rank); return rank;", "ready_ranks", None),
    "flow.push release": (
        FLOW, "compare_exchange_weak(seen, wanted, release, relaxed)",
        "compare_exchange_weak(seen, wanted, relaxed, relaxed)", "pipeline", None),
    "flow.push version": (
        FLOW, "without_head(seen) + version +", "without_head(seen) +", "pipeline", None),
    "flow.pop acquire": (
        FLOW, "compare_exchange_weak(seen, wanted, acquire, acquire)",
        "compare_exchange_weak(seen, wanted, relaxed, relaxed)", "pipeline", None),
    "flow.give acquire": (
        FLOW, "compare_exchange_weak(seen, none, acquire, relaxed)) continue",
        "compare_exchange_weak(seen, none, relaxed, relaxed)) continue", "pipeline", None),
    "flow.give release": (
        FLOW, "compare_exchange_weak(seen, token + 1, release, relaxed)",
        "compare_exchange_weak(seen, token + 1, relaxed, relaxed)", "pipeline", None),
    "flow.wait release": (
        FLOW, "compare_exchange_weak(seen, source_waits, release, relaxed)",
        "compare_exchange_weak(seen, source_waits, relaxed, relaxed)", "pipeline", None),
    "flow.take acquire": (
        FLOW, "compare_exchange_weak(seen, none, acquire, relaxed)) return seen",
        "compare_exchange_weak(seen, none, relaxed, relaxed)) return seen", "pipeline", None),
    "flow.arrive load acquire": (
        FLOW, "seen = mine.load(acquire);", "seen = mine.load(relaxed);", "pipeline", None),
    "flow.arrive release": (
        FLOW, "compare_exchange_strong(seen, token + first_token, acq_rel, acquire)",
        "compare_exchange_strong(seen, token + first_token, acquire, acquire)", "pipeline", None),
    "flow.pass release": (
        FLOW, "compare_exchange_strong(seen, open, acq_rel, acquire)",
        "compare_exchange_strong(seen, open, acquire, acquire)", "pipeline", None),
    "flow.pass acquire": (
        FLOW, "compare_exchange_strong(seen, open, acq_rel, acquire)",
        "compare_exchange_strong(seen, open, release, relaxed)", "pipeline", None),
    "flow.pass leaves the cell": (
        FLOW, "next.store(empty, relaxed);", "", "pipeline", None),
    "fork.publish release": (
        FORK, "<< bits | version_one, seq_cst)", "<< bits | version_one, relaxed)", "fork", None),
    "fork.publish seq_cst": (
        FORK, "<< bits | version_one, seq_cst)", "<< bits | version_one, acq_rel)", "fork", None),
    "fork.publish version": (
        FORK, "<< bits | version_one, seq_cst)", "<< bits, seq_cst)", "fork", None),
    "fork.look seq_cst": (
        FORK, "word_.load(seq_cst)", "word_.load(acquire)", "fork", None),
    "fork.look acquire": (
        FORK, "word_.load(seq_cst)", "word_.load(relaxed)", "fork", None),
    "fork.claim by store": (
        FORK, "return word_.compare_exchange_strong(seen, seen + 1, relaxed, relaxed);",
        "word_.store(seen + 1, relaxed); return true;", "fork", None),
    "fork.take_back by store": (
        FORK, "if (word_.compare_exchange_weak(seen, seen - (word{1} << bits), relaxed, relaxed)) {",
        "word_.store(seen - (word{1} << bits), relaxed); {", "fork", None),
    "fork.take_back looks once less": (
        FORK, "while (tail(seen) <= index)", "while (tail(seen) <= index + 1)", "fork", None),
    "fork.forget": (
        FORK, "word_.store((seen & ~word", "if (false) word_.store((seen & ~word", "fork", None),
    "fork.ask exchange": (
        FORK, "asked.exchange(true, acq_rel)", "asked.exchange(true, relaxed)", "fork",
        "Relacy orders the stores to one atomic as it executes them; that the limits of owner "
        "and thief may be seen in the other order is beyond it"),
    "fork.answer release": (
        FORK, "asked.store(false, release);", "asked.store(false, relaxed);", "fork",
        "Relacy orders the stores to one atomic as it executes them; that the limits of owner "
        "and thief may be seen in the other order is beyond it"),
    "fork.answer flag first": (
        FORK, "limit.store(normal, relaxed);\n    // release: a thief that finds the flag down again "
        "finds the limit above, and overwrites it.\n    asked.store(false, release);",
        "asked.store(false, release);\n    limit.store(normal, relaxed);", "fork", None),
    "fork.answer flag": (
        FORK, "asked.store(false, release);", ";", "fork", None),
    "parker.notify release": (
        PARKER, "exchange(notified, release)", "exchange(notified, relaxed)", "parker", None),
    "parker.park kept acquire": (
        PARKER, "state_.exchange(empty, acquire);\n            return",
        "state_.exchange(empty, relaxed);\n            return", "parker", None),
    "parker.park kept exchange": (
        PARKER, "state_.exchange(empty, acquire);\n            return",
        "state_.store(empty, relaxed);\n            return", "parker", None),
    "parker.park woken acquire": (
        PARKER, "compare_exchange_strong(expected, empty, acquire, relaxed)",
        "compare_exchange_strong(expected, empty, relaxed, relaxed)", "parker", None),
    "parker.park deadline acquire": (
        PARKER, "state_.exchange(empty, acquire) == notified",
        "state_.exchange(empty, relaxed) == notified", "parker", None),
    "parker.park deadline forgets": (
        PARKER, "in_time = state_.exchange(empty, acquire) == notified",
        "state_.exchange(empty, acquire); in_time = false", "parker", None),
    "ready.push cell release": (
        READY, "at(bottom).store(id, release)", "at(bottom).store(id, relaxed)",
        "ready_queue", None),
    "ready.push bottom seq_cst": (
        READY, "bottom_.exchange(bottom + 1, seq_cst)", "bottom_.exchange(bottom + 1, acq_rel)",
        "ready_queue", None),
    "ready.refill bottom seq_cst": (
        READY, "bottom_.exchange(bottom, seq_cst)", "bottom_.exchange(bottom, acq_rel)",
        "ready_queue", None),
    "ready.refill cell release": (
        READY, "at(bottom++).store(ids[i], release)", "at(bottom++).store(ids[i], relaxed)",
        "ready_queue", None),
    "ready.maybe_work seq_cst": (
        READY, "bottom_.load(seq_cst)", "bottom_.load(acquire)", "ready_queue", None),
    "ready.claim acquire": (
        READY, "compare_exchange_strong(seen, 0, acquire, relaxed)",
        "compare_exchange_strong(seen, 0, relaxed, relaxed)", "ready_queue", None),
    "ready.claim by store": (
        READY, "if (seen != 0 && at(i).compare_exchange_strong(seen, 0, acquire, relaxed)) return seen;",
        "if (seen != 0) { at(i).store(0, relaxed); return seen; }", "ready_queue", None),
    "ready.pop by store": (
        READY, "id = at(bottom).exchange(0, relaxed);",
        "{ id = at(bottom).load(relaxed); at(bottom).store(0, relaxed); }", "ready_queue", None),
    "ready.take_newest by store": (
        READY, "const bool taken = at(bottom).exchange(0, relaxed) != 0;",
        "const bool taken = at(bottom).load(relaxed) != 0; at(bottom).store(0, relaxed);",
        "ready_queue", None),
    "ready.take_oldest by store": (
        READY, "ids[taken] = at(top).exchange(0, relaxed);",
        "ids[taken] = at(top).load(relaxed); at(top).store(0, relaxed);", "ready_queue", None),
    "ready.room over a full cell": (
        READY, "steps-- != 0 && at(top).load(relaxed) == 0", "steps-- != 0", "ready_queue", None),
    "ready.pop bottom release": (
        READY, "bottom_.store(bottom, release);\n        return id",
        "bottom_.store(bottom, relaxed);\n        return id", "ready_queue",
        "Relacy has the release sequences of C++11, which a plain store continues"),
    "ready.raise top release": (
        READY, "if (top != before) top_.store(top, release)",
        "if (top != before) top_.store(top, relaxed)", "ready_queue",
        "a hint: a thief that starts elsewhere looks at other cells, and claims by CAS"),
    "sleepers.should_wake seq_cst": (
        SLEEPERS, "const std::uint32_t word = word_.load(seq_cst)",
        "const std::uint32_t word = word_.load(acquire)", "sleepers", None),
    "sleepers.announce count seq_cst": (
        SLEEPERS, "asleep_one - before, seq_cst);", "asleep_one - before, acq_rel);",
        "sleepers", None),
    "sleepers.rest keeps no count": (
        SLEEPERS, "if (!taken && slept) return", "if (!taken) return", "sleepers", None),
    "sleepers.rest looks before": (
        SLEEPERS, "announce(seat, kind, now);\n        const bool slept = !look();",
        "const bool slept = !look();\n        announce(seat, kind, now);", "sleepers", None),
    "sleepers.rest leaves a waiter counted as idle": (
        SLEEPERS, "} else if (kind == searcher::waiter) {", "} else if (false) {",
        "sleepers", None),
    "sleepers.end_search signed": (
        SLEEPERS, "!idle_searching(word) : searching(word) <= 0",
        "!idle_searching(word) : searching(word) == 0", "sleepers", None),
    "sleepers.end_search of a waiter trusts waiters": (
        SLEEPERS, "return kind == searcher::waiter ? !idle_searching(word) : searching(word) <= 0",
        "return searching(word) <= 0", "sleepers",
        "the last one looks, but with many waiters there is never a last one: a livelock, which "
        "WaitStress.TreesOfNestedWaitsFinish/64 sees"),
    "sleepers.should_wake signed": (
        SLEEPERS, "&& searching(word) <= 0", "&& searching(word) == 0", "sleepers",
        "needs four threads at the right points, which random schedules meet too rarely"),
    "words.push_edge release": (
        WORDS, "        release, acquire));\n    return true;\n}\n\n/// Leaves",
        "        relaxed, acquire));\n    return true;\n}\n\n/// Leaves", "successors", None),
    "words.push_edge acquire on failure": (
        WORDS, "        release, acquire));\n    return true;\n}\n\n/// Leaves",
        "        release, relaxed));\n    return true;\n}\n\n/// Leaves", "successors", None),
    "words.push_edge counts late": (
        WORDS, "    return true;\n}\n\n/// Leaves",
        "    waits_for.fetch_add(1, relaxed);\n    return true;\n}\n\n/// Leaves",
        "successors", None),
    "words.drop_open_work acq_rel": (
        WORDS, "index_of(open.fetch_sub(1, acq_rel))", "index_of(open.fetch_sub(1, relaxed))",
        "successors", None),
    "words.drop_wait acq_rel": (
        WORDS, "waits_for.fetch_sub(1, acq_rel) == 1", "waits_for.fetch_sub(1, relaxed) == 1",
        "successors", None),
    "words.drop_only_open_work acq_rel": (
        WORDS, "seen - 1, acq_rel, relaxed)", "seen - 1, relaxed, relaxed)", "successors", None),
    "words.drop_wait acquire": (
        WORDS, "waits_for.load(acquire) == 1", "waits_for.load(relaxed) == 1", "successors", None),
    "words.close release": (
        WORDS, "list_closed), acq_rel)", "list_closed), acquire)", "successors", None),
    "words.close acquire": (
        WORDS, "list_closed), acq_rel)", "list_closed), release)", "successors", None),
    "words.state acquire": (
        WORDS, "const std::uint64_t head = successors.load(acquire)",
        "const std::uint64_t head = successors.load(relaxed)", "successors", None),
    "words.mark_waited acquire": (
        WORDS, "head | waited_bit, acquire, acquire", "head | waited_bit, relaxed, relaxed",
        "successors", None),
    "words.push_edge first acquire": (
        WORDS, "Count& next) {\n    std::uint64_t head = successors.load(acquire)",
        "Count& next) {\n    std::uint64_t head = successors.load(relaxed)",
        "successors", None),
    "words.mark_waited first acquire": (
        WORDS, "successors.load(acquire);  // as in state_in()",
        "successors.load(relaxed);  // as in state_in()", "successors", None),
    "failure_in flags acquire": (
        WORDS, "flags.load(acquire) & failure_flags", "flags.load(relaxed) & failure_flags",
        "successors", None),
    "failure_in looks once": (
        WORDS, "failure == 0 || successors.load(relaxed) != over ? 0 : failure", "failure",
        "successors", None),
    "mark_failure release": (
        SLOT, "flags.fetch_or(with, release)", "flags.fetch_or(with, relaxed)", "successors", None),
    "words.push_edge no generation": (
        WORDS, "generation_of(head) != generation || is_closed(head)) {", "is_closed(head)) {",
        "successors", None),
    "words.add_open_work no generation": (
        WORDS, "generation_of(seen) != generation || (index_of(seen) & share_bits) == 0",
        "(index_of(seen) & share_bits) == 0",
        "successors", None),
    "words.open release": (
        WORDS, "no_edge), release)", "no_edge), relaxed)", "successors", None),
    "words.close_unused release": (
        WORDS, "list_closed), release);  // as in", "list_closed), relaxed);  // as in",
        "successors", None),
    "completion.arm release": (
        COMPLETION, "completion_open | as | shares), seq_cst)",
        "completion_open | as | shares), relaxed)", "completion", None),
    "completion.arm seq_cst": (
        COMPLETION, "completion_open | as | shares), seq_cst)",
        "completion_open | as | shares), release)", "completion", None),
    "completion.claim acquire": (
        COMPLETION, "completion_open}, acq_rel,", "completion_open}, release,", "completion", None),
    "completion.claim release": (
        COMPLETION, "completion_open}, acq_rel,", "completion_open}, acquire,", "completion", None),
    "completion.claim_and_drop acquire": (
        COMPLETION, "completion_open | 1}, acq_rel,", "completion_open | 1}, release,",
        "completion", None),
    "completion.claim_and_drop release": (
        COMPLETION, "completion_open | 1}, acq_rel,", "completion_open | 1}, acquire,",
        "completion", None),
    "completion.claim_and_drop looks": (
        COMPLETION,
        "if ((seen & ~std::uint64_t{what}) != join_word(generation, completion_open | 1)) return false;",
        "static_cast<void>(what); static_cast<void>(generation);", "completion", None),
    "completion.state acquire": (
        COMPLETION, "const std::uint64_t word = open.load(acquire)",
        "const std::uint64_t word = open.load(relaxed)", "completion", None),
    "ask_completion leaves a shielded one": (
        COMPLETION, "completion_asked, completion_shielded)", "completion_asked)", "completion", None),
    "completion.drop looks at what was asked": (
        COMPLETION, "fetch_sub(shares, acq_rel)) & completion_shares) == shares",
        "fetch_sub(shares, acq_rel))) == shares", "completion", None),
    "completion.claim no generation": (
        COMPLETION,
        "generation_of(seen) != generation || (index_of(seen) & completion_open) == 0",
        "(index_of(seen) & completion_open) == 0", "completion", None),
    "completion.claim what was settled": (
        COMPLETION,
        "generation_of(seen) != generation || (index_of(seen) & completion_open) == 0",
        "generation_of(seen) != generation", "completion", None),
    "completion.hold acquire": (
        COMPLETION, "(seen | as) + 1, acquire, relaxed", "(seen | as) + 1, relaxed, relaxed",
        "completion", None),
    "completion.hold no generation": (
        COMPLETION, "generation_of(seen) != generation || (low", "(low", "completion", None),
    "completion.hold what was settled": (
        COMPLETION, " || (low & completion_open) == 0", "", "completion", None),
    "completion.ask twice": (
        COMPLETION, " || (low & as) != 0", "", "completion", None),
    "completion.drop release": (
        COMPLETION, "fetch_sub(shares, acq_rel)", "fetch_sub(shares, acquire)", "completion", None),
    "completion.drop acquire": (
        COMPLETION, "fetch_sub(shares, acq_rel)", "fetch_sub(shares, release)", "completion", None),
    "ticket.let_go decides again": (
        TICKET, "if (what.decides) r.how = how;", "r.how = how;", "retire", None),
    "ticket.let_go settles what timed out": (
        TICKET, "return decides && was_in_flight; }", "return was_in_flight; }", "retire", None),
    "ticket.let_go settles what the core settles": (
        TICKET, "return decides && was_in_flight; }", "return decides; }", "retire", None),
    "ticket.let_go says nothing of the queue": (
        TICKET, "r.at == stage::queued, r.how", "false, r.how", "retire", None),
    "ticket.rerun of what has ended": (
        TICKET, "return r.how == ending::open && !r.is_unwanted;", "return !r.is_unwanted;",
        "retire", "what has ended in flight is unwanted, too"),
    "ticket.rerun of what nobody wants": (
        TICKET, "return r.how == ending::open && !r.is_unwanted;",
        "return r.how == ending::open;", "retire", None),
    "ticket.rerun without end": (
        TICKET, "!is_wanted(r) || r.reruns_left == 0)", "!is_wanted(r))", "retire", None),
    "ticket.a question before the id is forgotten": (
        TICKET, "    r.asked_early = true;\n", "", "retire", None),
    "ticket.a question for an earlier one": (
        TICKET, "|| r.done) return r.done == id;", "|| r.done) return true;", "retire",
        "who asks has a share of the task, whose record stays as long"),
    "ticket.asked of what has ended": (
        TICKET, "if (r.how != ending::open) return answer::ended;\n", "", "retire", None),
    "ticket.what is late in flight goes at once": (
        TICKET, "if (r.at != stage::in_flight) return answer::lets_go;",
        "return answer::lets_go;", "retire", None),
    "ticket.a late one stays undecided": (
        TICKET, "r.how = ending::timed_out;\n", "", "retire", None),
    "page.use says seq_cst": (
        USE, "compare_exchange_weak(seen, frame, seq_cst, acquire)",
        "compare_exchange_weak(seen, frame, acq_rel, acquire)", "page_use", None),
    "page.use looks seq_cst": (
        USE, "stage.load(seq_cst)", "stage.load(acquire)", "page_use", None),
    "page.use looks acquire": (
        USE, "stage.load(seq_cst)", "stage.load(relaxed)", "page_use", None),
    "page.use of another acquire": (
        USE, "used.load(acquire)", "used.load(relaxed)", "page_use",
        "Relacy executes a thread's operations in their order; that the look at the stage comes "
        "before this load is beyond it"),
    "page.leave says seq_cst": (
        USE, "page_stage::leaving, seq_cst)", "page_stage::leaving, release)", "page_use", None),
    "page.leave looks seq_cst": (
        USE, "has_ended(used.load(seq_cst))", "has_ended(used.load(acquire))", "page_use", None),
    "page.leave looks before": (
        USE, "stage.store(page_stage::leaving, seq_cst);  // pairs with use_page()\n"
        "    if (has_ended(used.load(seq_cst))) return true;",
        "const bool gone = has_ended(used.load(seq_cst));\n"
        "    stage.store(page_stage::leaving, seq_cst);\n    if (gone) return true;",
        "page_use", None),
    "page.leave stays away": (
        USE, "    stage.store(page_stage::resident, seq_cst);\n    return false;",
        "    return false;", "page_use", None),
    "page.enter release": (
        USE, "page_stage::resident, seq_cst);\n}", "page_stage::resident, relaxed);\n}",
        "page_use", None),
    "await.notify is always well": (
        AWAIT,
        "return state.compare_exchange_strong(seen, edge_notified, acq_rel, acquire);",
        "state.compare_exchange_strong(seen, edge_notified, acq_rel, acquire); return true;",
        "await", None),
    "await.notify release": (
        AWAIT, "edge_notified, acq_rel, acquire", "edge_notified, acquire, acquire", "await", None),
    "await.notify acquire": (
        AWAIT, "edge_notified, acq_rel, acquire", "edge_notified, acq_rel, relaxed", "await", None),
    "await.tear release": (
        AWAIT, "edge_torn, acq_rel, acquire", "edge_torn, acquire, acquire", "await", None),
    "await.tear acquire": (
        AWAIT, "edge_torn, acq_rel, acquire", "edge_torn, acq_rel, relaxed", "await", None),
    "await.first_came acquire": (
        AWAIT, "seen, id, acquire, relaxed", "seen, id, relaxed, relaxed", "await",
        "in Relacy an exchange of the list reads the newest value whatever came before"),
    "await.first_came twice": (
        AWAIT, "if (seen > came_armed) return arrived::later;\n", "", "await", None),
    "await.first_came leaves the others": (
        AWAIT, "arrived::first_of_armed : arrived::first", "arrived::first : arrived::first",
        "await", None),
    "await.arm_first release": (
        AWAIT, "came_armed, release, relaxed", "came_armed, relaxed, relaxed", "await",
        "as first_came"),
    "await.arm_first overwrites": (
        AWAIT, "return came.compare_exchange_strong(seen, came_armed, release, relaxed);",
        "return came.exchange(came_armed, release) == seen;", "await", None),
    "await.drop release": (
        AWAIT, "fetch_sub(shares, acq_rel)", "fetch_sub(shares, acquire)", "await", None),
    "await.drop acquire": (
        AWAIT, "fetch_sub(shares, acq_rel)", "fetch_sub(shares, release)", "await", None),
    "bounded.push release": (
        BOUNDED, "store(position + 1, release)", "store(position + 1, relaxed)",
        "bounded_queue", None),
    "bounded.push acquire": (
        BOUNDED, "const std::uint64_t sequence = c.sequence.load(acquire);\n            if (sequence == position)",
        "const std::uint64_t sequence = c.sequence.load(relaxed);\n            if (sequence == position)",
        "bounded_queue", None),
    "bounded.pop release": (
        BOUNDED, "mask_ + 1, release)", "mask_ + 1, relaxed)", "bounded_queue", None),
    "bounded.pop acquire": (
        BOUNDED, "c.sequence.load(acquire);  // pairs with push_with()",
        "c.sequence.load(relaxed);  // pairs with push_with()", "bounded_queue", None),
    "bounded.wrap": (
        BOUNDED, "static_cast<std::int64_t>(a - b) < 0", "a < b", "bounded_queue", None),
}


def outcome(name):
    """'seen', 'survived', or why nothing could be tried."""
    file, text, replacement, model, _ = WEAKENED[name]
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for part in ("include", "src", "tests/model"):
            shutil.copytree(ROOT / part, copy / part)
        source = (copy / file).read_text()
        if source.count(text) != 1:
            return f"the text is there {source.count(text)} times: mend this script"
        (copy / file).write_text(source.replace(text, replacement))
        binary = copy / "model"
        built = subprocess.run(
            ["g++", "-std=c++20", "-O1", f"-I{copy}/include", f"-I{copy}/src",
             f"-I{copy}/tests/model", copy / f"tests/model/{model}_model.cpp", "-o", binary],
            capture_output=True, text=True, check=False)
        if built.returncode != 0:
            return "does not build:\n" + built.stderr[-2000:]
        try:
            ran = subprocess.run([binary], capture_output=True, timeout=HANG_LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            return "took longer than ten minutes"
        return "survived" if ran.returncode == 0 else "seen"


def main():
    names = [name for name in WEAKENED if name.startswith(tuple(sys.argv[1:] or [""]))]
    if not names:
        print("weaken.py: no name starts so; without arguments all are tried", file=sys.stderr)
        return 2
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, found in zip(names, pool.map(outcome, names)):
            reason = WEAKENED[name][4]
            good = found == ("survived" if reason else "seen")
            wrong += not good
            print(f"{'ok   ' if good else 'WRONG'} {name}: {found}"
                  + (f" ({reason})" if reason else ""), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
