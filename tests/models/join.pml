/* gpuaes-parts seal and join (src/parts/seal.cpp, join.cpp): two attempts, at one part or at both, and two joins. Any
   of them may be killed, and is run again. output.pml shows that a file of the directory appears whole. */
#include "named.pml"

#ifdef TWICE /* two attempts at part 0; another has sealed part 1 */
#define twice 1
#else
#define twice 0
#endif
#define PARTS 2
#define NONE 0
#define INDEX 2 /* the names in the directory: of the parts, ... */
#define HEAD 3
#define JOB 4
#define NAMES 5

property(index_lists_the_parts)
property(part_is_never_replaced)
property(key_stays_until_joined)   /* in the job file, or in the head of a joined directory */
property(key_is_on_disk)           /* if the power fails now */
property(join_ends_joined)
property(join_fails_only_without_parts)
property(no_wait_is_lost)

byte there[NAMES];  /* the attempt whose file has the name, or NONE */
byte on_disk[NAMES]; /* what the last fsync(2) of the directory has seen */
byte listed[PARTS];                /* by the index */
bool killed[6];
byte kills, ended, joined;

#define is_whole(names) (names[0] != NONE && names[1] != NONE && names[INDEX] != NONE && names[HEAD] != NONE)

inline sync_directory() {
  skip;
  d_step {
    on_disk[0] = there[0]; on_disk[1] = there[1]; on_disk[INDEX] = there[INDEX]; on_disk[HEAD] = there[HEAD];
    on_disk[JOB] = there[JOB]
  }
}

inline remove_job() {
  skip;
  d_step {
    there[JOB] = NONE;
    check(key_stays_until_joined, is_whole(there))
    check(key_is_on_disk, is_whole(on_disk)) /* the removal may get there at any time */
  }
}

proctype seal(byte me; byte part) {
again:
  {
    if :: there[JOB] == NONE || there[INDEX] != NONE -> goto ends :: else fi; /* keep_joined() */
    if :: there[part] != NONE -> goto keeps :: else fi;
    if
#ifdef PART_REPLACED
    :: d_step { check(part_is_never_replaced, there[part] == NONE) there[part] = me }
#else
    :: d_step { there[part] == NONE -> there[part] = me }
    :: there[part] != NONE
#endif
    fi;
keeps:
    sync_directory();
    goto ends
  } unless { killed[me] -> killed[me] = false };
  goto again;
ends:
  ended++
}

proctype join(byte me) {
  byte first, second;
again:
  {
    if
    :: there[JOB] == NONE && there[INDEX] != NONE -> goto cleans
    :: there[JOB] != NONE
    fi;
    first = there[0]; /* read_parts() */
    second = there[1];
    if :: first == NONE || second == NONE -> goto fails :: else fi;
    if /* check_head() */
    :: there[HEAD] == NONE ->
       if
       :: d_step { there[HEAD] == NONE -> there[HEAD] = me }
       :: there[HEAD] != NONE -> /* FileExists */
#ifdef HEAD_OF_ANOTHER_REFUSED
          goto fails
#else
          skip
#endif
       fi
    :: else
    fi;
#ifdef JOB_REMOVED_FIRST
    remove_job();
#endif
    if /* write_index() */
    :: d_step { there[INDEX] == NONE -> there[INDEX] = me; listed[0] = first; listed[1] = second }
    :: there[INDEX] != NONE -> if :: listed[0] != first || listed[1] != second -> goto fails :: else fi
    fi;
    check(index_lists_the_parts, listed[0] == there[0] && listed[1] == there[1])
#ifndef NO_SYNC_BEFORE_REMOVAL
    sync_directory();
#endif
cleans: /* clean_up() */
    remove_job();
    sync_directory();
    joined++;
    goto ends;
fails:
    check(join_fails_only_without_parts, first == NONE || second == NONE)
  } unless { killed[me] -> killed[me] = false };
  first = NONE; second = NONE;
  goto again;
ends:
  ended++
}

proctype killer() {
  do
  :: kills < KILLS ->
     atomic { kills++; if :: killed[1] = true :: killed[2] = true :: killed[4] = true :: killed[5] = true fi }
  :: break
  od
}

init {
  atomic {
    there[JOB] = 1;
#ifdef TWICE
    there[1] = 3;
#endif
#ifndef NO_HEAD
    there[HEAD] = 1; on_disk[HEAD] = 1;
#endif
    run seal(1, 0); run seal(2, 1 - twice); run join(4); run join(5);
    run killer()
  }
  timeout ->
  check(no_wait_is_lost, ended == 4)
  check(join_ends_joined, joined == 2 && there[JOB] == NONE && is_whole(there))
}
