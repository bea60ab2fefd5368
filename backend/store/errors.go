package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"loop/backend/core"
)

// explain turns SQLite's word about the file into a Failure that names it;
// everything else passes unchanged.
func (s *Store) explain(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*core.Failure](err); ok {
		return err
	}
	if errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrConflict) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %w", core.ErrNotFound, err)
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return damaged(s.path, err)
	case sqlite3.SQLITE_FULL:
		return diskFull(s.path, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return readOnly(s.path, err)
	case sqlite3.SQLITE_CANTOPEN:
		return cannotOpen(s.path, err)
	case sqlite3.SQLITE_IOERR:
		return core.Fail(core.CodeDatabase, err,
			fmt.Sprintf("Reading or writing the database %s was refused by the system.", s.path),
			"Check that the disk has free space and is healthy, then start Loop again.")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return core.Fail(core.CodeDatabase, err,
			fmt.Sprintf("Another program holds the database %s.", s.path),
			"Close the program that has the file open, then try again.")
	case sqlite3.SQLITE_CONSTRAINT:
		return fmt.Errorf("%w: %w", core.ErrConflict, err)
	}
	return err
}

// fileFailure explains an error from making or opening the file itself.
func fileFailure(path string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return diskFull(path, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return readOnly(path, err)
	}
	return cannotOpen(path, err)
}

func damaged(path string, err error) error {
	return core.Fail(core.CodeDatabase, err,
		fmt.Sprintf("The database %s is damaged or is not a database.", path),
		"Move the file away and start Loop again; it makes a new one. Keep the old file if you want its history looked at.")
}

func diskFull(path string, err error) error {
	return core.Fail(core.CodeDiskFull, err,
		fmt.Sprintf("The disk that holds the database %s is full.", path),
		"Free some space, then try again.")
}

func readOnly(path string, err error) error {
	return core.Fail(core.CodeDatabase, err,
		fmt.Sprintf("Loop may not write its database %s.", path),
		"Make the file and its folder writable for your user, or set LOOP_HOME to another folder.")
}

func cannotOpen(path string, err error) error {
	return core.Fail(core.CodeDatabase, err,
		fmt.Sprintf("The database %s cannot be opened.", path),
		"Check that the path is a file in a folder you may write to, or set LOOP_HOME to another folder.")
}
