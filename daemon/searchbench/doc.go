// Command searchbench measures loomd's searches and listings next to those of
// its peers, turn by turn in the same run: rg, git grep, git ls-files, fd and
// csearch as processes, fff in a process that stays. It is what make
// bench-search runs, and it writes the tables of docs/performance.md.
//
// loomd is asked over its socket, and its time ends with the last byte of the
// answer. A peer's time is that of its process with its output read from a pipe.
// Every answer is compared with rg's before anything is measured.
package main
