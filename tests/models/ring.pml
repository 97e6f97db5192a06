/* The ring of chunks (src/pipeline/ring.cpp), the lanes that leave or take over (workers.cpp), and the loop of every
   lane (pipeline.cpp). What the code does under a mutex is one atomic step. tests/models/check has the sizes, and the
   faults that it plants: each #ifdef is one of them. */
#include "named.pml"

#define ALL (LANES + 2)         /* lanes: those of the beginning, ... */
#define FALLBACK LANES          /* the one that is added after the last has failed, ... */
#define REPLACEMENT (LANES + 1) /* and the one that replaces those of the beginning */
#define NONE 255
#define depth(lane) ((lane) == 0 -> 2 : 1) /* the first lane is a CUDA stream, the others are CPU threads */

mtype = { unused, held, done }
mtype = { none, fill, work, write }

property(no_wait_is_lost)     /* if nothing can happen any more, the run has ended */
property(a_lane_is_coming)    /* if a chunk can be started and a lane is asleep, another one has been woken */
property(one_writer)
property(one_reader)
property(one_holder)          /* of a chunk */
property(in_order)            /* the output: each chunk once, and only after its lane is done */
property(all_is_written)      /* unless the run was stopped or failed */

mtype state[CHUNKS] = unused;
byte done_by[CHUNKS] = NONE;
bool in_source[CHUNKS], given_back[CHUNKS], bad[CHUNKS];
byte content[CHUNKS] = NONE;  /* the number of the chunk whose input is in memory, ... */
bool processed[CHUNKS];       /* and whether its output is */
byte holder[CHUNKS] = NONE;
byte fill_count, done_count, write_count, arriving = NONE;
bool closed, reading, writing, cancelled;
byte waiting[ALL], sleepers;
bool asleep[ALL], blocked[ALL], to_write[ALL]; /* blocked: in the kernel, until a notify */
byte readers, writers, written;
bool failed, main_blocked, main_ended;
bool started[ALL], replaced[ALL], workers_closed, fallback_used;
byte working = LANES, running, failures;

#define entry(number) ((number) % CHUNKS)
#ifdef TWO_WRITERS
#define turn_is_free true
#else
#define turn_is_free (!writing)
#endif
#define can_write (turn_is_free && write_count < fill_count && state[entry(write_count)] == done)
#define can_fill (!closed && !reading && state[entry(fill_count)] == unused)
#define can_start (can_fill || given_back[0] || given_back[CHUNKS - 1])
#define all_done (closed && done_count == fill_count)
#define all_written (closed && write_count == fill_count)

/* Ring::Locked: wake() under the mutex, and notify() after it. Only the last of several is notified after it. */
inline notify_now() {
  if
  :: woken != NONE -> blocked[woken] = false; woken = NONE
  :: else
  fi
}
inline wake(lane) {
  who = lane; other = 0;
  do
  :: waiting[other] == who -> break
  :: else -> other++
  od;
  sleepers--;
  do
  :: other < sleepers -> waiting[other] = waiting[other + 1]; other++
  :: else -> break
  od;
  waiting[sleepers] = 0;
#ifndef WAKE_BEFORE_STATE
  asleep[who] = false;
#endif
  notify_now();
  woken = who;
  who = 0; other = 0
}
inline notify() {
#ifdef MISSING_NOTIFY
  woken = NONE;
#endif
#ifdef WAKE_BEFORE_STATE
  if :: woken != NONE -> blocked[woken] = false; asleep[woken] = false; woken = NONE :: else fi
#else
  d_step { notify_now() }
#endif
}
inline wake_to_start() {
  if
  :: can_start && arriving == NONE && sleepers > 0 ->
     arriving = waiting[sleepers - 1];
     wake(waiting[sleepers - 1])
  :: else
  fi
}
inline wake_all() {
  do
  :: sleepers > 0 -> wake(waiting[sleepers - 1])
  :: else -> break
  od
}

#ifdef CLAIM_TWICE
#define mark_as_held() /* after the mutex */
#define count_claim() skip
#else
#define mark_as_held() state[chunk] = held
#define count_claim() fill_count++
#endif

/* Ring::try_take(), and end() and next_task() in it. */
inline end_task() {
  if
  :: ended == write ->
     state[chunk] = unused; write_count++; writing = false;
     if
     :: can_write && !in_source[entry(write_count)] && asleep[done_by[entry(write_count)]] ->
        to_write[done_by[entry(write_count)]] = true;
        wake(done_by[entry(write_count)])
     :: else
     fi;
     if :: all_written -> main_blocked = false :: else fi
  :: ended == work ->
     state[chunk] = done; done_count++;
     if :: all_done -> wake_all() :: else fi
  :: else
  fi;
  ended = none
}
inline next_task() {
  if
  :: can_write && (done_by[entry(write_count)] == me || !to_write[done_by[entry(write_count)]]) ->
     to_write[me] = false; writing = true; task = write; chunk = entry(write_count)
  :: else ->
     if
     :: start && (given_back[0] || given_back[CHUNKS - 1]) ->
        chunk = (given_back[0] -> 0 : CHUNKS - 1);
        given_back[chunk] = false; task = work; claim()
     :: start && !given_back[0] && !given_back[CHUNKS - 1] && can_fill ->
        chunk = entry(fill_count); in_source[chunk] = fill_count < IN_SOURCE; bad[chunk] = false;
        if
        :: in_source[chunk] -> task = work; content[chunk] = fill_count; processed[chunk] = false
        :: else -> task = fill; reading = true
        fi;
        claim();
        if :: task == work -> count_claim() :: else fi
     :: else
     fi
  fi
}
inline claim() {
  check(one_holder, holder[chunk] == NONE)
  holder[chunk] = me; done_by[chunk] = me;
  mark_as_held()
}
inline take(may_wait) {
  again = true;
  do
  :: again ->
     d_step {
       end_task();
       if :: arriving == me -> arriving = NONE :: else fi;
       again = false; task = none; chunk = 0;
       if
       :: !cancelled ->
          next_task();
          wake_to_start();
          if
          :: task == none && may_wait && !all_done ->
             waiting[sleepers] = me; sleepers++; asleep[me] = true; again = true
          :: else
          fi;
          check(a_lane_is_coming, !can_start || arriving != NONE || sleepers == 0)
       :: else
       fi
     }
     notify();
#ifdef CLAIM_TWICE
     if
     :: task == fill -> state[chunk] = held
     :: task == work && state[chunk] == unused -> d_step { state[chunk] = held; fill_count++ }
     :: else
     fi;
#endif
     do /* std::atomic::wait() */
     :: atomic { again && asleep[me] -> blocked[me] = true }
        !blocked[me]
     :: else -> break
     od
  :: else -> break
  od
}
inline cancel() { /* Ring::cancel() */
  d_step { cancelled = true; wake_all() }
  notify();
  main_blocked = false
}

/* ChunkSteps */
inline read_input() {
  d_step { readers++; check(one_reader, readers == 1) }
  if
  :: !idle -> /* there is no input yet: Ring::unfilled() */
     d_step {
       readers--; reading = false; state[chunk] = unused; holder[chunk] = NONE; task = none;
       wake_to_start()
     }
#ifdef STOP
  :: threw = true
  :: bad[chunk] = true; filled(true)
#endif
  :: filled(fill_count + 1 == LENGTH)
  fi;
  notify()
}
inline filled(ended_now) { /* Ring::filled() */
  d_step {
    readers--; content[chunk] = fill_count; processed[chunk] = false;
    reading = false; closed = ended_now; fill_count++;
    wake_to_start()
  }
}
inline write_output() {
  atomic {
    writers++;
    check(one_writer, writers == 1)
    check(in_order, content[chunk] == written && processed[chunk])
  }
  atomic {
    writers--; written++; holder[chunk] = NONE; ended = write;
    if
    :: bad[chunk] -> failed = true; threw = true
#ifdef STOP
    :: failed = true; threw = true
#endif
    :: !bad[chunk]
    fi
  }
}

/* Workers */
inline start_next() {
  d_step {
    other = 0;
    do
    :: other < LANES && started[other] -> other++
    :: else -> break
    od;
    if :: other == LANES && (!fallback_used || started[FALLBACK]) -> other = NONE :: else fi;
    if :: other != NONE && !workers_closed -> started[other] = true; running++ :: else fi;
    other = 0
  }
}
inline leave_failed() {
  atomic {
    threw = false;
    if
#ifdef LAST_LANE_LEAVES
    :: false
#else
    :: working == 1 ->
       if
       :: fallback_used -> threw = true; failed = true
       :: else -> fallback_used = true
       fi
#endif
    :: else -> working--
    fi
  }
}

/* Pipeline::do_tasks() and do_tasks_until_replaced() */
proctype lane(byte me) {
  byte woken = NONE, who, other, chunk, jobs, first, second;
  mtype task = none, ended = none;
  bool start, idle, again, threw;
  started[me] || main_ended;
  if :: !started[me] -> goto never_started :: else fi;
loop:
  atomic { idle = jobs == 0; start = jobs < depth(me) && !replaced[me] }
  take(idle && start);
  if
  :: task == write ->
     write_output();
     if :: threw -> goto throws :: else -> goto loop fi
  :: task == fill -> read_input(); if :: threw -> goto throws :: else fi
  :: else
  fi;
  if
  :: task != none ->
     if
     :: content[chunk] + 1 != LENGTH && content[chunk] + 1 != IN_SOURCE && !bad[chunk] ->
        if :: start_next() :: skip /* the system may refuse a thread */ fi
     :: else
     fi;
     atomic { if :: jobs == 0 -> first = chunk :: else -> second = chunk fi; jobs++ }
     if
     :: failures < FAILURES -> failures++; goto fails
     :: goto loop
     fi
  :: task == none && !idle ->
     if
     :: failures < FAILURES -> failures++; goto fails
     :: atomic { chunk = first; processed[chunk] = true; first = second; second = 0; jobs--; ended = work }
        goto loop
     fi
  :: task == none && idle ->
     atomic { /* Workers::leave() */
       if
       :: replaced[me] ->
          replaced[me] = false;
          if :: working == 1 -> goto loop :: else -> working-- fi
       :: else
       fi
     }
     goto ends
  fi;
fails:
  do
  :: jobs > 0 ->
     d_step { /* Ring::give_back() */
       holder[first] = NONE; given_back[first] = true; first = second; second = 0; jobs--;
#ifndef NO_WAKE_AFTER_GIVING_BACK
       wake_to_start()
#endif
     }
     notify()
  :: else -> break
  od;
  leave_failed();
  if :: !threw -> goto ends :: else fi;
throws:
  failed = true;
  cancel();
ends:
  start_next(); /* Workers::drive() */
  running--;
never_started:
  skip
}

/* Pipeline::run() */
proctype main_thread() {
  byte woken = NONE, who, other;
  do /* Ring::wait_for_end() */
  :: atomic { cancelled || all_written -> break }
  :: atomic { else -> main_blocked = true }
     !main_blocked
  od;
  workers_closed = true;
  cancel();
  running == 0;
  atomic { check(all_is_written, failed || written == LENGTH) main_ended = true }
}

#ifdef STOP
proctype stopper() { /* a signal */
  byte woken = NONE, who, other;
  if
  :: atomic { failed = true } cancel()
  :: skip
  fi
}
#endif

#ifdef REPLACE
proctype replacer() { /* Workers::replace(), at any time */
  byte old;
  atomic { if :: !workers_closed -> working++; started[REPLACEMENT] = true; running++ :: else fi }
  do
  :: old < LANES -> replaced[old] = true; old++
  :: else -> break
  od
}
#endif

init {
  byte i;
  atomic {
    started[0] = true; running = 1;
    do
    :: i < ALL -> run lane(i); i++
    :: else -> break
    od;
    run main_thread();
#ifdef STOP
    run stopper();
#endif
#ifdef REPLACE
    run replacer()
#endif
  }
  timeout -> check(no_wait_is_lost, main_ended)
}
