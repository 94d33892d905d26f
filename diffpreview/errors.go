package diffpreview

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Code is a stable failure code that a model or a client can branch on.
type Code string

// The codes of this package's failures. They are also what a tool's failed
// result carries.
const (
	CodeFileNotFound         Code = "file_not_found"
	CodePathOutsideWorkspace Code = "path_outside_workspace"
	CodeProtectedPath        Code = "protected_path"
	CodeNotRegularFile       Code = "not_regular_file"
	CodeIsDirectory          Code = "is_directory"
	CodeInvalidArguments     Code = "invalid_arguments"
	CodeNoChange             Code = "no_change"
	CodeNotText              Code = "not_text"
	CodeUnsupportedEncoding  Code = "unsupported_encoding"
	CodeTooLarge             Code = "too_large"
	CodePermissionDenied     Code = "permission_denied"
	CodeNoSpace              Code = "no_space"
	CodeStale                Code = "stale"
	CodeConflict             Code = "conflict"
	CodeUnavailable          Code = "unavailable"
	CodeDenied               Code = "denied"
	CodeIO                   Code = "io"
	CodeInternal             Code = "internal"

	// Of decisions only.
	CodeUnknownProposal Code = "unknown_proposal"
	CodeUnknownHunk     Code = "unknown_hunk"
	CodeAlreadyDecided  Code = "already_decided"
	CodeChangedSince    Code = "changed_since"
)

// Error is a failure with a code. Path is as the caller named it.
type Error struct {
	Code     Code
	Path     string
	Message  string
	Hint     string
	Err      error
	Proposal *Proposal   // the present state, when a decision came too late
	Blocking []*Proposal // what stands in the way of a change set
}

func (e *Error) Error() string {
	msg := e.Message
	if msg == "" && e.Err != nil {
		msg = e.Err.Error()
	}
	if e.Path == "" {
		return msg
	}
	return e.Path + ": " + msg
}

func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first [*Error] in err's chain, CodeInternal
// when there is none and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

func failf(code Code, path, format string, args ...any) *Error {
	return &Error{Code: code, Path: path, Message: fmt.Sprintf(format, args...)}
}

// ioError gives an operating system's error its code.
func ioError(path string, err error) error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &Error{Code: CodeFileNotFound, Path: path, Message: "no such file", Err: err}
	case isEscape(err):
		return outside(path)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return &Error{Code: CodePermissionDenied, Path: path, Message: "permission denied", Err: err}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &Error{Code: CodeNoSpace, Path: path, Message: "no space left on the file system", Err: err}
	case errors.Is(err, syscall.EISDIR):
		return &Error{Code: CodeIsDirectory, Path: path, Message: "is a directory", Err: err}
	}
	return &Error{Code: CodeIO, Path: path, Err: err}
}

// isEscape recognises os.Root's refusal, whose error value is not exported
// (Go 1.26), by its text.
func isEscape(err error) bool {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error() == "path escapes from parent"
	}
	var le *os.LinkError
	return errors.As(err, &le) && le.Err.Error() == "path escapes from parent"
}

// outside is the same text whether or not the place exists, so that it tells
// nothing about it.
func outside(path string) *Error {
	return &Error{
		Code: CodePathOutsideWorkspace, Path: path, Message: "outside the workspace",
		Hint: "name a path inside the workspace, relative to its root",
	}
}
