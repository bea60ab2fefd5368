package core

import (
	"errors"
	"fmt"
)

// Code names a kind of failure for programs; people read Cause and Remedy.
type Code string

const (
	CodeInternal        Code = "internal"
	CodeInvalid         Code = "invalid_input"
	CodeNotFound        Code = "not_found"
	CodeConflict        Code = "conflict"
	CodeForbidden       Code = "forbidden"         // the caller may not name this
	CodeTooMany         Code = "too_many"          // of what one caller may ask for
	CodeNoEngine        Code = "no_engine"         // nothing answers where the engine should be
	CodeEngineDenied    Code = "engine_permission" // it is there but refuses this user
	CodeEngineLost      Code = "engine_lost"       // it went away during the work
	CodeNoImage         Code = "image_missing"
	CodeNoSandbox       Code = "image_missing:" // before the kind of an image that Loop can build
	CodeImageBuild      Code = "image_build"
	CodeToolchain       Code = "toolchain"       // nobody has decided whether the project's own image counts
	CodeToolchainBuild  Code = "toolchain_build" // the project's own image could not be built
	CodeSetup           Code = "setup"           // the setupCommand of a container
	CodeNoLink          Code = "no_link"         // no hello from loop init in time
	CodeDir             Code = "directory"
	CodeMount           Code = "mount"
	CodeConfig          Code = "config"
	CodeCredentials     Code = "credentials"
	CodeModel           Code = "model"       // the API refused or broke off
	CodeModelAuth       Code = "model_auth"  // 401, 403
	CodeModelLimit      Code = "model_limit" // 429, usage and billing limits
	CodeModelOverloaded Code = "model_overloaded"
	CodeNoResult        Code = "no_result" // the CLI ended without a result event
	CodeKilled          Code = "killed"    // exit 137
	CodeOutOfMemory     Code = "out_of_memory"
	CodeDiskFull        Code = "disk_full"
	CodeTimeout         Code = "timeout"
	CodeCancelled       Code = "cancelled"
	CodeInterrupted     Code = "interrupted"
	CodeSpoolFull       Code = "spool_full"
	CodeOff             Code = "off"      // switched off in the settings
	CodeDatabase        Code = "database" // Loop's own database cannot be opened, read or written
)

// Failure is an error a person can act on. Cause and Remedy are whole
// sentences in plain words; Detail is for copying into a report and may hold
// text that came out of a container.
type Failure struct {
	Code   Code   `json:"code"`
	Cause  string `json:"cause"`
	Remedy string `json:"remedy,omitempty"`
	Detail string `json:"detail,omitempty"`
	err    error
}

// Fail makes a Failure that wraps err (which may be nil).
func Fail(code Code, err error, cause, remedy string) *Failure {
	f := &Failure{Code: code, Cause: cause, Remedy: remedy, err: err}
	if err != nil {
		f.Detail = err.Error()
	}
	return f
}

func (f *Failure) Error() string {
	if f.err != nil {
		return fmt.Sprintf("%s: %v", f.Cause, f.err)
	}
	return f.Cause
}

func (f *Failure) Unwrap() error { return f.err }

// AsFailure returns the Failure inside err, or wraps err as an internal one.
func AsFailure(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return Fail(CodeInternal, err, "Something went wrong inside Loop.", "Try again; if it repeats, run “loop doctor” and look at the log.")
}

// Sentinels that cross package borders; test with errors.Is.
var (
	ErrNotFound   = errors.New("not found")
	ErrConflict   = errors.New("conflict")
	ErrLinkDown   = errors.New("link down")
	ErrNoImage    = errors.New("image not found")
	ErrNotRunning = errors.New("container not running")
	ErrWithdrawn  = errors.New("withdrawn") // the cause of a held call's context when the call has gone
)
