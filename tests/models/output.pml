/* -o and the files of a directory in parts (src/io/output_file.cpp, temp_file.cpp): two runs write the same name,
   either may be killed, and the power may fail at any moment. REFUSE: a file of that name is never replaced. */
#include "named.pml"

#define PIECES 2 /* of a file */
#define NONE 0
#define OLD 3    /* the file before the runs, if there is one; the others are those of the runs 1 and 2 */

property(name_shows_a_whole_file)
property(disk_has_a_whole_file)    /* under the name, if the power fails now */
property(success_survives)         /* a run that succeeded, even then */
property(kept_file_is_whole)       /* what is left if the last step fails, even then */
property(first_file_stays)         /* with REFUSE */
property(no_wait_is_lost)

byte data[4], data_on_disk[4];
#ifdef REFUSE
byte name = NONE, name_on_disk = NONE;
#else
byte name = OLD, name_on_disk = OLD;
#endif
byte kept = NONE;
bool said_kept, succeeded, killed[3];
byte ended;

inline write_data() { /* OutputFile::write() */
  do
  :: data[me] < PIECES -> data[me]++
  :: data[me] == PIECES -> break
  :: goto fails /* the input is damaged */
  od
}

inline sync_data() {
  data_on_disk[me] = data[me]
}

inline give_name() { /* TempFile::publish() */
  if
#if defined(REFUSE) && !defined(RENAME_REPLACES)
  :: d_step { name == NONE -> name = me }
  :: name != NONE -> goto fails /* FileExists */
#else
#ifdef REFUSE
  :: name != NONE -> goto fails
  :: name == NONE ->
#else
  :: true ->
#endif
     d_step {
#ifdef REFUSE
       check(first_file_stays, name == NONE)
#endif
       name = me
     }
#endif
  :: goto keeps /* the system refuses the name */
  fi;
  check(name_shows_a_whole_file, data[name] == PIECES)
}

proctype writer(byte me) {
  {
#ifdef REFUSE
    if :: name != NONE -> goto fails :: else fi;
#endif
#ifdef NAME_BEFORE_DATA
    give_name();
    write_data();
    sync_data();
#else
    write_data();
    if :: goto keeps /* the access of the old file cannot be kept */ :: skip fi;
#ifndef NAME_BEFORE_SYNC
    sync_data();
#endif
    give_name();
#endif
#ifndef NO_SYNC_OF_DIRECTORY
    name_on_disk = name; /* TempFile::sync_directory() */
#endif
    succeeded = true;
    goto ends;
keeps: /* TempFile::keep() */
#ifdef KEPT_BEFORE_SYNC
    kept = me;
    said_kept = true;
#endif
    sync_data();
    kept = me;
    said_kept = true;
    goto ends;
fails:
    skip
  } unless { killed[me] };
ends:
  ended++
}

proctype killer() {
  if
  :: killed[1] = true
  :: killed[2] = true
  :: skip
  fi
}

proctype disk() { /* writes what is in memory when it likes */
  do
  :: data_on_disk[1] < data[1] -> data_on_disk[1] = data[1]
  :: data_on_disk[2] < data[2] -> data_on_disk[2] = data[2]
  :: name_on_disk != name -> name_on_disk = name
  :: ended == 2 -> break
  od
}

proctype power_failure() {
  d_step {
    check(disk_has_a_whole_file, name_on_disk == NONE || data_on_disk[name_on_disk] == PIECES)
    check(success_survives, !succeeded || (name_on_disk != NONE && name_on_disk != OLD))
    check(kept_file_is_whole, !said_kept || data_on_disk[kept] == PIECES)
  }
}

init {
  atomic {
    data[OLD] = PIECES; data_on_disk[OLD] = PIECES;
    run writer(1); run writer(2); run killer(); run disk(); run power_failure()
  }
  timeout -> check(no_wait_is_lost, ended == 2)
}
