package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settings are the command line.
type settings struct {
	loomd, cache, peers, document string
	copies                        []int
	rounds                        int
	only                          string
	search, cost                  bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := parse()
	if err == nil {
		err = s.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "searchbench:", err)
		os.Exit(1)
	}
}

func parse() (*settings, error) {
	s := &settings{}
	var copies string
	flag.StringVar(&s.loomd, "loomd", "bin/loomd", "the program that is measured")
	flag.StringVar(&s.cache, "cache", ".cache/searchbench", "folder of the corpora, made when they are missing")
	flag.StringVar(&s.peers, "peers", "daemon/searchbench/peers", "folder of the peers from npm")
	flag.StringVar(&s.document, "write", "", "document to write the tables into")
	flag.StringVar(&copies, "copies", "1,8", "how many copies of Go's source tree the corpora have")
	flag.IntVar(&s.rounds, "rounds", 5, "rounds of each task")
	flag.StringVar(&s.only, "only", "", "the one task (name or pattern) to measure")
	flag.BoolVar(&s.search, "search", true, "measure searches and listings")
	flag.BoolVar(&s.cost, "cost", true, "measure building, memory, and what watching costs")
	flag.Parse()
	for c := range strings.SplitSeq(copies, ",") {
		n, err := strconv.Atoi(c)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-copies: %q is no number of copies", c)
		}
		s.copies = append(s.copies, n)
	}
	var err error
	for _, p := range []*string{&s.loomd, &s.cache, &s.peers} {
		if *p, err = filepath.Abs(*p); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *settings) rgBinary() (string, error) {
	found, err := filepath.Glob(filepath.Join(s.peers, "node_modules/@vscode/ripgrep-*/bin/rg*"))
	if err != nil || len(found) == 0 {
		return "", errors.New("rg is missing: run make peers")
	}
	return found[0], nil
}

func (s *settings) run(ctx context.Context) error {
	all, err := corpora(ctx, s.cache, s.copies)
	if err != nil {
		return err
	}
	tables := fmt.Sprintf("Measured on %s with %s/%s, %d processors.\n\n",
		time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	for _, c := range all {
		if s.search {
			text, err := s.measure(ctx, c)
			if err != nil {
				return err
			}
			tables += text
		}
		if s.cost {
			text, err := s.costs(ctx, c)
			if err != nil {
				return err
			}
			tables += text
		}
	}
	fmt.Print(tables)
	if s.document == "" {
		return nil
	}
	return write(s.document, tables)
}

// measure runs all tasks on a corpus.
func (s *settings) measure(ctx context.Context, c corpus) (_ string, err error) {
	speed := bandwidth()
	rg, err := s.rgBinary()
	if err != nil {
		return "", err
	}
	index, err := c.csearchIndex(ctx)
	if err != nil {
		return "", err
	}
	b := &bench{corpus: c, rg: rg, peers: commandPeers(rg, index), rounds: s.rounds}
	if b.loomd, err = startServed(ctx, s.loomd, c.dir, ""); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, b.loomd.stop()) }()
	if _, err := b.loomd.live(); err != nil {
		return "", err
	}
	f, err := startFFF(ctx, s.peers, c.dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.stop()) }()
	b.peers = append(b.peers, &peer{name: "fff", ask: f.ask})
	floor, err := b.roundTrip()
	if err != nil {
		return "", err
	}
	outcomes, err := b.run(ctx, s.only)
	if err != nil {
		return "", err
	}
	return report(c, outcomes, speed, floor), nil
}
