/* --into (src/io/shared_output.cpp): processes that write a file together, each its share. Any of them may be killed
   and run again; two may have the same share. Each system call is one step. */
#include "named.pml"

#define FOLDERS 4 /* as many are made at most; folder F is made together with the file F, its data */
#define WRITES 2  /* calls that write a share */
#define NONE 0
#ifdef TWICE /* a share */
#define twice 1
#else
#define twice 0
#endif
#define at(folder, share) ((folder) * SHARES + (share))

property(name_follows_data)     /* the file gets its name when all shares are written and synced */
property(file_is_never_replaced)
property(finished_is_not_written)
property(late_write_is_the_last) /* without locks: of a process that was stopped before the call */
property(file_appears)          /* if each share has a run that succeeded */
property(nothing_is_left)       /* unless a process was killed */
property(no_wait_is_lost)

byte folder = NONE, file = NONE; /* what has these names */
byte made;                       /* folders */
bool has_data[FOLDERS], is_marked[FOLDERS];
bool done[FOLDERS * SHARES];
byte written[FOLDERS * SHARES], locked[FOLDERS * SHARES] = NONE;
bool synced[FOLDERS * SHARES];
bool succeeded[SHARES];
bool killed[4];
byte kills, ended;

#define is_removed(f) (!has_data[f] && file != (f))
#define has_names(f) (folder == (f) && has_data[f] && file == NONE)
#define is_complete(f) (was_marked -> !is_marked[f] : file == (f) && has_data[f])

inline end_if_complete() { /* unless_complete() */
  if
  :: is_complete(mine) -> goto complete
  :: else -> goto fails
  fi
}

inline remove_folder(f) {
  has_data[f] = false;
  i = 0;
  do
  :: i < SHARES -> d_step { done[at(f, i)] = false; locked[at(f, i)] = NONE; i++ }
  :: else -> break
  od;
  i = 0;
  if
  :: d_step { folder == f && !has_data[f] -> folder = NONE }
  :: else
  fi
}

inline write_share() {
  do
  :: count < WRITES ->
#ifdef UNCHECKED_WRITE
     skip;
#else
     if /* check_state() */
     :: is_complete(mine) -> goto complete
     :: !is_complete(mine) && is_removed(mine) -> goto fails
     :: else
     fi;
#endif
     d_step { /* write(2) */
#ifdef NO_LOCKS
       check(late_write_is_the_last, !late)
       late = file == mine;
#else
       check(finished_is_not_written, file != mine)
#endif
       count++;
       if /* a second run writes the same bytes */
       :: count > written[at(mine, share)] -> written[at(mine, share)] = count; synced[at(mine, share)] = false
       :: else
       fi
     }
  :: else -> break
  od
}

inline name_file() {
  if :: has_data[mine] -> is_marked[mine] = false :: else fi; /* remove_mark() */
  if /* give_new_name() */
  :: d_step {
       has_data[mine] && file == NONE ->
       check(file_is_never_replaced, file == NONE)
       check(name_follows_data, written[at(mine, 0)] == WRITES && written[at(mine, 1)] == WRITES)
       check(name_follows_data, synced[at(mine, 0)] && synced[at(mine, 1)])
       file = mine
     }
#ifndef LINKS
     has_data[mine] = false
#else
     skip;
     has_data[mine] = false
#endif
  :: else
  fi;
  remove_folder(mine)
}

proctype process(byte me; byte share) {
  byte mine, count, i;
  bool made_it, was_marked, all, late;
begin:
  {
    if :: file != NONE -> goto exists :: else fi;
    if :: d_step { folder == NONE && made + 1 < FOLDERS ->
         made++; folder = made; has_data[made] = true; is_marked[made] = true; made_it = true }
    :: else -> made_it = false
    fi;
    mine = folder; /* open_folder() */
    if :: mine == NONE -> goto begin :: else fi;
    d_step { was_marked = is_marked[mine]; all = !has_data[mine] || (file == mine && has_data[mine]) } /* find_data() */
    if :: all -> remove_folder(mine); goto begin :: else fi;
#ifdef LOCK_TOO_LATE
    if :: done[at(mine, share)] -> goto is_done :: else fi;
#endif
#ifndef NO_LOCKS
    if /* lock_share() */
    :: d_step { locked[at(mine, share)] == NONE -> locked[at(mine, share)] = me }
    :: locked[at(mine, share)] != NONE -> goto fails /* the other one does not touch it */
    fi;
#endif
    if
    :: is_complete(mine) -> goto complete
    :: else
    fi;
    if :: is_removed(mine) || !has_names(mine) -> goto begin_again :: else fi;
#if !defined(LOCK_TOO_LATE) && !defined(RETRY_WRITES)
    if :: done[at(mine, share)] -> goto is_done :: else fi; /* open_data() */
#endif
    if :: !has_data[mine] -> goto begin_again :: else fi;
    write_share();
#ifdef NAME_BEFORE_DATA
    done[at(mine, share)] = true;
#endif
    if :: !has_names(mine) || is_complete(mine) -> end_if_complete() :: else fi; /* finish() */
    synced[at(mine, share)] = true;
    if :: !has_names(mine) || is_complete(mine) -> end_if_complete() :: else fi; /* mark_done() */
    if
    :: d_step { folder == mine -> done[at(mine, share)] = true }
    :: folder != mine -> end_if_complete()
    fi;
is_done:
    if :: locked[at(mine, share)] == me -> locked[at(mine, share)] = NONE :: else fi;
    i = 1; all = true; /* all_done() */
    do
    :: i < SHARES -> all = all && done[at(mine, (share + i) % SHARES)]; i++
    :: else -> break
    od;
    if :: all -> name_file() :: else fi;
    goto succeeds;
begin_again:
    if :: locked[at(mine, share)] == me -> locked[at(mine, share)] = NONE :: else fi;
    if :: made_it && file != NONE -> remove_folder(mine) :: else fi;
    goto begin;
exists: /* compares its share with the file, and then remove_finished_folder() */
    mine = folder;
    if :: mine != NONE && (!has_data[mine] || file == mine) -> remove_folder(mine) :: else fi;
complete:
succeeds:
    succeeded[share] = true;
    goto ends;
fails:
    skip
  } unless { killed[me] -> killed[me] = false };
  /* The system releases its locks, and a scheduler runs it again. */
  if :: mine != NONE && locked[at(mine, share)] == me -> locked[at(mine, share)] = NONE :: else fi;
  goto again;
again:
  count = 0; late = false; mine = NONE; i = 0;
  goto begin;
ends:
  if :: mine != NONE && locked[at(mine, share)] == me -> locked[at(mine, share)] = NONE :: else fi;
  ended++
}

proctype killer() {
  do
  :: kills < KILLS -> atomic { kills++; if :: killed[1] = true :: killed[2] = true fi }
  :: break
  od
}

init {
  atomic {
    run process(1, 0); run process(2, 1);
#ifdef TWICE
    run process(3, 0);
#endif
    run killer()
  }
  timeout ->
  check(no_wait_is_lost, ended == 2 + twice)
  check(file_appears, file != NONE)
  check(nothing_is_left, kills > 0 || folder == NONE)
}
