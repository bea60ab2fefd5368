package registry

import (
	"fmt"
	"testing"

	"loop/backend/core"
	"loop/backend/engine/enginetest"
)

// BenchmarkReconcileFake looks at 500 containers of an engine in memory: the registry's own part.
func BenchmarkReconcileFake(b *testing.B) {
	fake := enginetest.NewFake()
	fake.AddImage("img", "sha256:1", nil)
	r := newRegistry(newRows(), fake)
	for i := range 500 {
		s := scoped(fmt.Sprintf("loop-test-%06d", i), fmt.Sprintf("session:%d", i), "f")
		if _, err := r.Acquire(b.Context(), s, "", core.Holder{Kind: core.HolderRun, ID: core.NewID()}); err != nil {
			b.Fatal(err)
		}
	}
	defer func() {
		for _, c := range r.List() {
			_ = fake.Remove(b.Context(), c.ID, true)
		}
	}()
	for b.Loop() {
		r.reconcile(b.Context())
	}
	if n := len(r.List()); n != 500 {
		b.Fatalf("%d containers are left", n)
	}
}
