//go:build !linux && !darwin

package main

import "errors"

// flushInput leaves what was typed where it is.
func flushInput(int) error { return errors.ErrUnsupported }
