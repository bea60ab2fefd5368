package gate

import (
	"errors"
	"fmt"
	"testing"

	"loop/backend/core"
	"loop/backend/wire"
)

// mixed is a run that asks too much, in four groups: 18 writes below a folder, 3 with a
// program, 2 to a socket, 1 of a credential.
func (r *rig) mixed() (files, programs, sockets []ask, secret ask) {
	for i := range 18 {
		sub := []string{"", "lib/", "lib/deep/"}[i%3]
		one := inPlace(fmt.Sprintf("/home/ana/.npm/_prebuilds/%s%d", sub, i), "8:5")
		if i%2 == 0 {
			one.Operation = "create"
		}
		files = append(files, r.held("spawn1", one))
	}
	secret = r.held("spawn1", credential())
	for i := range 3 {
		programs = append(programs, r.held("spawn1", wire.Approval{Kind: wire.KindExec, Target: fmt.Sprint("vips --size ", i), From: "/tmp/p/bin/vips",
			Identity: "8:9", Policy: 1, Act: act("exec")}))
	}
	for i := range 2 {
		sockets = append(sockets, r.held("spawn1", wire.Approval{Kind: wire.KindConnect, Target: "/tmp/s.sock", Policy: 1, Act: act(fmt.Sprint("connect", i))}))
	}
	return files, programs, sockets, secret
}

func credential() wire.Approval {
	a := inPlace("/home/ana/.npmrc", "8:7")
	a.Operation, a.Category = "read", "credential"
	return a
}

func (r *rig) say(f core.Approval, said ...core.GroupAnswer) error {
	_, err := r.Answer(r.ctx, f.ID, core.ApprovalAnswer{Scope: core.ScopeOnce, Digest: f.Digest, By: "window", Groups: said})
	return err
}

func groupAt(t *testing.T, f core.Approval, target string) core.ApprovalGroup {
	t.Helper()
	for _, g := range f.Groups {
		if g.Target == target {
			return g
		}
	}
	t.Fatalf("no group of %s in %+v", target, f.Groups)
	return core.ApprovalGroup{}
}

func TestGroupsOfAFloodAreAnsweredByThemselves(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		files, programs, sockets, secret := r.mixed()
		f := r.one()
		if len(f.Groups) != 4 || f.Calls != 24 {
			t.Fatalf("flood %+v", f)
		}
		folder, program := groupAt(t, f, "/home/ana/.npm/_prebuilds"), groupAt(t, f, "/tmp/p/bin/vips")
		socket, key := groupAt(t, f, "/tmp/s.sock"), groupAt(t, f, "/home/ana/.npmrc")
		if folder.Calls != 18 || folder.Operation != "write" || folder.Wide != "/**" || program.Wide != " *" || socket.Wide != "" || !key.OnceOnly {
			t.Fatalf("groups %+v", f.Groups)
		}
		for _, no := range []core.GroupAnswer{
			{ID: key.ID, Verdict: core.GroupAllowRun}, {ID: folder.ID, Verdict: core.GroupAllowOnce}, {ID: folder.ID, Verdict: "always"},
			{ID: "another", Verdict: core.GroupDeny},
		} {
			if r.say(f, no) == nil {
				t.Fatalf("%+v was taken", no)
			}
		}
		if err := r.say(f, core.GroupAnswer{ID: folder.ID, Verdict: core.GroupDeny}, core.GroupAnswer{ID: folder.ID, Verdict: core.GroupAllowRun}); err == nil {
			t.Fatal("two answers to one group")
		}
		if err := r.say(f, core.GroupAnswer{ID: folder.ID, Verdict: core.GroupAllowRun}, core.GroupAnswer{ID: program.ID, Verdict: core.GroupDeny}); err != nil {
			t.Fatal(err)
		}
		for _, h := range files {
			if !r.now(h).Allow {
				t.Fatal("a file was denied")
			}
		}
		for _, h := range programs {
			if v := r.now(h); v.Allow || v.By != wire.ByPerson {
				t.Fatalf("verdict %+v", v)
			}
		}
		if f = r.one(); len(f.Groups) != 2 || f.Calls != 3 {
			t.Fatalf("left %+v", f.Groups)
		}
		r.waits(secret)
		// What the pattern covers goes on, and nothing beside it.
		if !r.now(r.held("spawn1", inPlace("/home/ana/.npm/_prebuilds/lib/later", "8:6"))).Allow {
			t.Fatal("the pattern does not hold")
		}
		removed := inPlace("/home/ana/.npm/_prebuilds/lib/later", "8:6")
		removed.Operation = "delete"
		linked := removed
		linked.Operation = "link"
		ruled := inPlace("/home/ana/.npm/_prebuilds/lib/later", "8:6")
		ruled.Rule = "another"
		up := inPlace("/home/ana/.npm/_prebuilds/../x", "8:6")
		for _, other := range []wire.Approval{removed, linked, ruled, up, inPlace("/home/ana/.npm/_prebuilds2", "8:6"), inPlace("/home/ana/.npm/x", "8:6")} {
			r.waits(r.held("spawn1", other))
		}
		r.waits(r.held("spawn2", inPlace("/home/ana/.npm/_prebuilds/lib/later", "8:6")))

		f = r.floodCard()
		if err := r.say(f, core.GroupAnswer{ID: key.ID, Verdict: core.GroupAllowOnce}, core.GroupAnswer{ID: socket.ID, Verdict: core.GroupAsk}); err != nil {
			t.Fatal(err)
		}
		if !r.now(secret).Allow {
			t.Fatal("the credential was denied")
		}
		for _, h := range sockets {
			r.waits(h)
		}
		n := 0
		for _, q := range r.Pending() {
			if q.Kind == core.ApprovalConnect {
				n++
			}
		}
		if n != 2 {
			t.Fatalf("%d questions about the socket", n)
		}
	})
}

func TestAFloodOfWhichAllIsAnsweredEnds(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		all := r.flood(maxPerRun + 1)
		f := r.one()
		r.audit.fail(errors.New("disk full"))
		if r.say(f, core.GroupAnswer{ID: f.Groups[0].ID, Verdict: core.GroupAllowRun}) == nil {
			t.Fatal("allowed without a record")
		}
		r.waits(all[0])
		r.audit.fail(nil)
		if err := r.say(f, core.GroupAnswer{ID: f.Groups[0].ID, Verdict: core.GroupAllowRun}); err != nil {
			t.Fatal(err)
		}
		for _, h := range all {
			r.now(h)
		}
		if len(r.Pending()) != 0 || len(r.floods) != 0 || r.parked != 0 {
			t.Fatal("something is left")
		}
		list := r.heard(core.EventGateResolved)
		if last := list[len(list)-1]; !isFlood(last) || last.State != core.ApprovalAllowed || last.Reason != "21 allowed" {
			t.Fatalf("end %+v", last)
		}
		if n := len(r.audit.all()); n != len(all) {
			t.Fatalf("%d records of %d calls", n, len(all))
		}
	})
}

// A flood of many folders, and one of paths as long as they can be, has few groups. None
// is as wide as a home folder.
func TestGroupsAreFew(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for i := range 200 {
			r.held("spawn1", inPlace(fmt.Sprintf("/home/ana/.cache/%d/%d/x", i%40, i), "8:5"))
		}
		for i := range 30 {
			r.held("spawn1", inPlace(fmt.Sprintf("/home/ana/.rc%d", i), "8:5"))
		}
		f := r.one()
		if len(f.Groups) != maxGroups || f.Calls != 230 {
			t.Fatalf("%d groups, %d calls", len(f.Groups), f.Calls)
		}
		if g := f.Groups[0]; g.Target != "/home/ana/.cache" || g.Calls != 200 || len(g.Items) != maxGroupItems {
			t.Fatalf("group %s with %d calls and %d items", g.Target, g.Calls, len(g.Items))
		}
		for _, g := range f.Groups[1:] {
			if g.Wide != "" || g.Calls != 1 {
				t.Fatalf("group %+v", g)
			}
		}
	})
}
