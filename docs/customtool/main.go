// Command customtool is a loomd of one's own: it has a tool more, word_count.
// docs/custom-tools.md shows it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/loomd/loomd/daemon"
	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/tools"
)

type wordCountArgs struct {
	Path string `json:"path" jsonschema:"the file, relative to the workspace's root"`
}

type wordCount struct {
	Words int `json:"words"`
}

func init() {
	tools.Register(tools.Spec[wordCountArgs, wordCount]{
		Name:        "word_count",
		Description: "Counts the words of a text file.",
		Annotations: tools.Annotations{ReadOnly: true, Idempotent: true},
		Failures:    []tools.FailureCode{{Code: "file_not_found", Meaning: "There is no such file."}},
		Call: func(_ context.Context, tc *tools.Context, args wordCountArgs) (wordCount, error) {
			path, err := tc.View.Resolve(args.Path)
			if err != nil {
				return wordCount{}, err
			}
			file, err := tc.View.Read(path) // as the session sees it, its own proposals included
			switch {
			case err != nil:
				return wordCount{}, err
			case !file.Exists:
				return wordCount{}, tools.Failuref("file_not_found", "there is no %s", args.Path)
			}
			return wordCount{Words: len(strings.Fields(string(file.Data)))}, nil
		},
	})
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, os.Args[1:], nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve serves folders on their private socket, where the commands of loomd find
// it: loomd call word_count '{"path":"README.md"}'. It calls ready once it listens.
func serve(ctx context.Context, roots []string, ready func()) error {
	user, err := config.UserPath()
	if err != nil {
		return err
	}
	server, err := daemon.New(daemon.Options{
		Roots: roots, UserConfig: user, Version: "custom", Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	return errors.Join(server.Serve(ctx, ready), server.Close())
}
