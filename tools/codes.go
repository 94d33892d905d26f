package tools

import (
	"fmt"
	"slices"

	"github.com/loomd/loomd/diffpreview"
)

// FailureCode is a code that failures of a tool have, and what it means.
type FailureCode struct {
	Code    string
	Meaning string // one line of Markdown
}

// meanings are the codes of all tools' failures. A code means the same whichever
// tool fails with it.
var meanings = []struct {
	code    diffpreview.Code
	meaning string
}{
	{diffpreview.CodeInvalidArguments, "The arguments are not what the schema asks for, or do not go together. `field` names the argument."},
	{diffpreview.CodeIO, "Reading, writing or asking a service failed for a reason that has no code of its own; `message` has the system's or the service's words."},
	{diffpreview.CodeInternal, "A defect of loomd. Its log says more."},

	{diffpreview.CodeFileNotFound, "Your view has nothing at this path. `hint` names what is like it."},
	{diffpreview.CodePathOutsideWorkspace, "The path or pattern leads out of the workspace, by itself or through a link."},
	{diffpreview.CodeProtectedPath, "No tool changes this file: git's own, or loomd's configuration."},
	{diffpreview.CodeIsDirectory, "There is a directory where the call needs a file."},
	{diffpreview.CodeNotRegularFile, "It is no regular file: a FIFO, socket, device or link; or it is a file where a directory is needed."},
	{diffpreview.CodePermissionDenied, "The system refuses loomd the file or directory."},
	{diffpreview.CodeUnavailable, "What the call needs is not there: the workspace's folder is missing, or was moved or replaced since the daemon opened it; a command has no shell or no sandbox to run in; or a service is not configured or refuses the key. Calling again does not help."},
	{diffpreview.CodeDenied, "It is not allowed: by a rule or a person, of a command; or the new text, or the new name, would hold a secret that is configured, or the mark that stands for one; or a secret would be sent to a service."},
	{diffpreview.CodeNotText, "The file, or its new text, is binary, which no reviewer could read. `message` says what it is."},
	{diffpreview.CodeUnsupportedEncoding, "Text outside ASCII, and a file that is neither UTF-8 nor UTF-16: what its bytes would be is not known."},
	{diffpreview.CodeTooLarge, "The file is over 256 MiB, or would be; or an image is larger than what is decoded, or a service's reply than what is read."},
	{diffpreview.CodeNoSpace, "No room is left where loomd keeps what is proposed."},

	{CodeNoMatch, "`old_str`, or a hunk's old lines, are not in the file. The failure has the nearest text and the first difference."},
	{CodeAmbiguousMatch, "`old_str`, or a hunk's old lines, are in the file more than once. The failure has `count` and `lines`."},
	{diffpreview.CodeNoChange, "The file would be the same after as before."},
	{diffpreview.CodeStale, "The file is not the one that you know: it has another hash than `expected_hash`, holds more than what a patch deletes, or has changed since you last read or wrote it."},
	{diffpreview.CodeConflict, "There is a file already where this one is to go."},

	{CodeUnsupportedPattern, "The pattern is valid elsewhere, but not in RE2's dialect. `hint` says what to write instead."},
	{CodeTimeout, "The call took too long and was ended."},
	{CodeUnknownJob, "Your session has no job of this id."},
	{CodeTooManyJobs, "As many jobs run in your session as may."},
	{diffpreview.CodeUnknownProposal, "Your session has no proposal of this id."},
}

// ofAll are the codes that a call of every tool can fail with.
var ofAll = []diffpreview.Code{diffpreview.CodeInvalidArguments, diffpreview.CodeIO, diffpreview.CodeInternal}

// ofPaths are those of the tools that take a path.
var ofPaths = []diffpreview.Code{diffpreview.CodePathOutsideWorkspace, diffpreview.CodePermissionDenied, diffpreview.CodeUnavailable}

// ofChanges are those of the tools that propose, beside ofPaths.
var ofChanges = []diffpreview.Code{
	diffpreview.CodeProtectedPath, diffpreview.CodeIsDirectory, diffpreview.CodeNotRegularFile,
	diffpreview.CodeUnsupportedEncoding, diffpreview.CodeTooLarge, diffpreview.CodeNoSpace,
}

// ofTexts are those of the tools that propose a new text, beside ofChanges.
var ofTexts = []diffpreview.Code{
	diffpreview.CodeNotText, diffpreview.CodeNoChange, diffpreview.CodeStale, diffpreview.CodeConflict, diffpreview.CodeDenied,
}

// ofJobs are those of the tools that take a job.
var ofJobs = []diffpreview.Code{CodeUnknownJob, diffpreview.CodeNoSpace}

// ofServices are those of the tools that ask a service.
var ofServices = []diffpreview.Code{diffpreview.CodeDenied, diffpreview.CodeUnavailable, diffpreview.CodeTooLarge, CodeTimeout}

// failuresOf are the codes of all and those of a tool with their meanings, each
// once, in the order of meanings.
func failuresOf(codes []diffpreview.Code) ([]FailureCode, error) {
	codes = slices.Concat(ofAll, codes)
	var out []FailureCode
	for _, m := range meanings {
		if slices.Contains(codes, m.code) {
			out = append(out, FailureCode{string(m.code), m.meaning})
			codes = slices.DeleteFunc(codes, func(c diffpreview.Code) bool { return c == m.code })
		}
	}
	if len(codes) > 0 {
		return nil, fmt.Errorf("nobody says what the failure code %s means", codes[0])
	}
	return out, nil
}
