package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

var errFault = errors.New("disk I/O error")

// faults counts the calls of a database's writing connection: every begin, statement
// and commit. It can make one of them fail, before or after it took effect, and calls
// look at each.
type faults struct {
	mu    sync.Mutex
	on    bool
	n     int // calls since arm
	at    int // the call that fails, counted from 1
	after bool
	hit   bool
	look  func(n int, after, commit bool, site string)
}

// arm begins to count. With at 0 no call fails.
func (f *faults) arm(at int, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on, f.n, f.at, f.after, f.hit = true, 0, at, after, false
}

// disarm stops counting. It returns the number of calls, and whether the fault came.
func (f *faults) disarm() (calls int, hit bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on = false
	return f.n, f.hit
}

func (f *faults) do(commit bool, call func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.on {
		return call()
	}
	f.n++
	site := callSite()
	if f.look != nil {
		f.look(f.n, false, commit, site)
	}
	if f.n == f.at && !f.after {
		f.hit = true
		return errFault
	}
	if err := call(); err != nil {
		return err
	}
	if f.look != nil {
		f.look(f.n, true, commit, site)
	}
	if f.n == f.at {
		f.hit = true
		return errFault
	}
	return nil
}

// callSite returns the place in this package's own source that made the call.
func callSite() string {
	pc := make([]uintptr, 40)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for {
		fr, more := frames.Next()
		if strings.HasSuffix(filepath.ToSlash(filepath.Dir(fr.File)), "/backend/store") && !strings.HasSuffix(fr.File, "_test.go") {
			return fmt.Sprintf("%s:%d", filepath.Base(fr.File), fr.Line)
		}
		if !more {
			return ""
		}
	}
}

// faultDriver is SQLite, with faults on the writing connections of the databases in
// byPath.
type faultDriver struct {
	driver.Driver
	byPath sync.Map // path to *faults
}

var faulty = &faultDriver{Driver: &sqlite.Driver{}}

func init() { sql.Register("sqlite with faults", faulty) }

func (d *faultDriver) Open(name string) (driver.Conn, error) {
	c, err := d.Driver.Open(name)
	if err != nil || !strings.Contains(name, "_txlock=immediate") {
		return c, err
	}
	u, err := url.Parse(name)
	if err != nil {
		return nil, err
	}
	f, ok := d.byPath.Load(u.Path)
	if !ok {
		return c, nil
	}
	return &faultConn{c.(conn), f.(*faults)}, nil
}

// conn has the parts of a connection that database/sql uses.
type conn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

type faultConn struct {
	conn
	f *faults
}

func (c *faultConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &faultStmt{s.(stmt), c.f}, nil
}

func (c *faultConn) BeginTx(ctx context.Context, o driver.TxOptions) (tx driver.Tx, err error) {
	err = c.f.do(false, func() (err error) {
		tx, err = c.conn.BeginTx(ctx, o)
		return err
	})
	if err != nil {
		if tx != nil { // otherwise nobody would
			err = errors.Join(err, tx.Rollback())
		}
		return nil, err
	}
	return &faultTx{tx, c.f}, nil
}

func (c *faultConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (r driver.Result, err error) {
	err = c.f.do(false, func() (err error) {
		r, err = c.conn.ExecContext(ctx, query, args)
		return err
	})
	return r, err
}

type stmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type faultStmt struct {
	stmt
	f *faults
}

func (s *faultStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (r driver.Result, err error) {
	err = s.f.do(false, func() (err error) {
		r, err = s.stmt.ExecContext(ctx, args)
		return err
	})
	return r, err
}

func (s *faultStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (r driver.Rows, err error) {
	err = s.f.do(false, func() (err error) {
		r, err = s.stmt.QueryContext(ctx, args)
		return err
	})
	if err != nil && r != nil {
		err = errors.Join(err, r.Close())
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

type faultTx struct {
	driver.Tx
	f *faults
}

func (t *faultTx) Commit() error {
	done := false
	err := t.f.do(true, func() error {
		done = true
		return t.Tx.Commit()
	})
	if err != nil && !done {
		// The driver does the same: a commit that failed leaves no transaction.
		err = errors.Join(err, t.Tx.Rollback())
	}
	return err
}
