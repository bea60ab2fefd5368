package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// inTx runs fn in one write transaction; step names it in errors.
func (s *Store) inTx(ctx context.Context, step string, fn func(q queries) error) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(fmt.Errorf("%s: begin: %w", step, err))
	}
	defer tx.Rollback() // after Commit this does nothing
	if err := fn(s.write.within(tx)); err != nil {
		return s.explain(fmt.Errorf("%s: %w", step, err))
	}
	if err := tx.Commit(); err != nil {
		return s.explain(fmt.Errorf("%s: commit: %w", step, err))
	}
	return nil
}

// change is inTx for what has a result; there is none with an error.
func change[T any](ctx context.Context, s *Store, step string, fn func(q queries) (T, error)) (T, error) {
	var out, none T
	err := s.inTx(ctx, step, func(q queries) (err error) {
		out, err = fn(q)
		return err
	})
	if err != nil {
		return none, err
	}
	return out, nil
}

// wrap adds the step to a reading error.
func (s *Store) wrap(step string, err error) error {
	if err == nil {
		return nil
	}
	return s.explain(fmt.Errorf("%s: %w", step, err))
}

// mapped never returns nil, so that a list is [] in JSON.
func mapped[R, T any](in []R, f func(R) T) []T {
	out := make([]T, len(in))
	for i, r := range in {
		out[i] = f(r)
	}
	return out
}

// decoded is mapped for what a step has read, and for rows that may be damaged.
func decoded[R, T any](s *Store, step string, in []R, err error, f func(R) (T, error)) ([]T, error) {
	out := make([]T, len(in))
	for i := 0; i < len(in) && err == nil; i++ {
		out[i], err = f(in[i])
	}
	if err != nil {
		return nil, s.wrap(step, err)
	}
	return out, nil
}

// asJSON encodes one of core's plain structs, which cannot fail.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("store: encode %T: %v", v, err))
	}
	return string(b)
}

func fromJSON(text string, v any) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), v)
}

// Times are stored as milliseconds since the epoch; 0 is the zero time.
func toMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
