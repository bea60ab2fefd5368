package gate

import (
	"testing"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

// TestWhatAGroupsAnswerCovers: an answer to a group for the run is one to what lies within
// its pattern, does the same, and asks by the same rule.
func TestWhatAGroupsAnswerCovers(t *testing.T) {
	file := inPlace("/home/ana/.npm/a/1", "8:5")
	other := inPlace("/home/ana/.npm/a/2", "8:6")
	program := wire.Approval{Kind: wire.KindExec, Target: "vips 1", From: "/tmp/vips", Identity: "8:9", Policy: 1, Act: act("exec")}
	second := program
	second.Target = "vips 2"
	of := func(list ...wire.Approval) *grantedGroup {
		g := &group{groupKey: groupOf(&question{act: list[0], key: "k"})}
		for _, a := range list {
			g.list = append(g.list, &question{act: a})
		}
		return g.granted()
	}
	with := func(a wire.Approval, change func(*wire.Approval)) wire.Approval { change(&a); return a }
	folder, one, programs := of(file, other), of(file), of(program, second)
	for name, c := range map[string]struct {
		of   *grantedGroup
		act  wire.Approval
		want bool
	}{
		"another file":         {folder, with(file, func(a *wire.Approval) { a.Target = "/home/ana/.npm/a/b/3" }), true},
		"making one":           {folder, with(file, func(a *wire.Approval) { a.Operation = "create" }), true},
		"beside the folder":    {folder, with(file, func(a *wire.Approval) { a.Target = "/home/ana/.npm/ab" }), false},
		"not clean":            {folder, with(file, func(a *wire.Approval) { a.Target = "/home/ana/.npm/a/../b" }), false},
		"a link":               {folder, with(file, func(a *wire.Approval) { a.Operation = string(policy.Link) }), false},
		"a link of the object": {one, with(file, func(a *wire.Approval) { a.Operation = string(policy.Link) }), false},
		"the object":           {one, file, true},
		"another object":       {one, other, false},
		"a deletion":           {folder, with(file, func(a *wire.Approval) { a.Operation = "delete" }), false},
		"another rule":         {folder, with(file, func(a *wire.Approval) { a.Rule = "x" }), false},
		"another category":     {folder, with(file, func(a *wire.Approval) { a.Category = "" }), false},
		"a credential":         {folder, with(file, func(a *wire.Approval) { a.Category = "credential" }), false},
		"unknown":              {folder, with(file, func(a *wire.Approval) { a.Act = "" }), false},
		"the same program":     {programs, with(program, func(a *wire.Approval) { a.Target = "vips 3" }), true},
		"another program":      {programs, with(program, func(a *wire.Approval) { a.From = "/tmp/other" }), false},
		"a changed program":    {programs, with(program, func(a *wire.Approval) { a.Identity = "8:10" }), false},
	} {
		if c.of.covers(c.act) != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
	secret := with(file, func(a *wire.Approval) { a.Category = "credential" })
	if of(secret).covers(secret) {
		t.Error("a group allows a credential for the run")
	}
	link := with(file, func(a *wire.Approval) { a.Operation = string(policy.Link) })
	if of(link).covers(link) {
		t.Error("a group allows a second name for the run")
	}
}

// TestWhatStandsAlone: what is never remembered, gives a file a second name or is not known
// is in no group with anything else, nor is what lies directly in a home.
func TestWhatStandsAlone(t *testing.T) {
	for name, change := range map[string]func(*wire.Approval){
		"credential": func(a *wire.Approval) { a.Category = "credential" },
		"link":       func(a *wire.Approval) { a.Operation = string(policy.Link) },
		"unknown":    func(a *wire.Approval) { a.Act = "" },
		"not clean":  func(a *wire.Approval) { a.Target = "/home/ana/.npm/x/../" + a.Target[len(a.Target)-1:] },
		"a home":     func(a *wire.Approval) { a.Target = "/home/ana/" + a.Target[len(a.Target)-1:] },
	} {
		a, b := inPlace("/home/ana/.npm/a/1", "8:5"), inPlace("/home/ana/.npm/a/2", "8:5")
		change(&a)
		change(&b)
		if groupOf(&question{act: a, key: "one"}) == groupOf(&question{act: b, key: "two"}) {
			t.Errorf("%s: both are in one group", name)
		}
	}
}

// TestAnswersToOtherGroups: what was shown must still be what is answered, and a card takes
// an answer to groups once, of its own groups, and for no longer than they offer.
func TestAnswersToOtherGroups(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		all := r.flood(maxPerRun + 1)
		f := r.one()
		deny := []core.GroupAnswer{{ID: f.Groups[0].ID, Verdict: core.GroupDeny}}
		many := deny
		for range maxGroups {
			many = append(many, core.GroupAnswer{ID: f.Groups[0].ID, Verdict: core.GroupDeny})
		}
		for name, c := range map[string]struct {
			a    core.ApprovalAnswer
			code core.Code
		}{
			"another digest": {core.ApprovalAnswer{Digest: "x", Scope: core.ScopeOnce, Groups: deny}, core.CodeConflict},
			"for the run":    {core.ApprovalAnswer{Digest: f.Digest, Scope: core.ScopeRun, Groups: deny}, core.CodeInvalid},
			"too many":       {core.ApprovalAnswer{Digest: f.Digest, Scope: core.ScopeOnce, Groups: many}, core.CodeInvalid},
			"all for a run":  {core.ApprovalAnswer{Digest: f.Digest, Scope: core.ScopeRun, Allow: true}, core.CodeForbidden},
		} {
			if _, err := r.Answer(r.ctx, f.ID, c.a); core.AsFailure(err).Code != c.code {
				t.Errorf("%s: %v", name, err)
			}
		}
		r.waits(all[0])
	})
}

// TestTheDigestNamesContentsAndOffers: two questions that look alike and stand for other
// bytes, or for another rule, are two.
func TestTheDigestNamesContentsAndOffers(t *testing.T) {
	of := func(a wire.Approval, offers ...core.ApprovalOffer) string {
		q := New(Options{}).newQuestion(&asker{}, a, "key")
		q.view.ID, q.view.Offers = "same", offers
		return digest(q)
	}
	a, b := rename("new\n"), rename("new\n")
	a.After, b.After = content("new\n"), content("new\n")
	a.After.Cut, b.After.Cut = true, true // only the beginning is shown
	b.After.SHA256 = hashed("another end")
	if of(a) == of(b) {
		t.Error("the end of a text does not count")
	}
	if of(a, core.ApprovalOffer{Scope: core.ScopeRun, Rule: "x"}) == of(a, core.ApprovalOffer{Scope: core.ScopeRun, Rule: "y"}) {
		t.Error("the rule that would be stored does not count")
	}
	inplace := rename("new\n")
	inplace.InPlace = true
	if diff, note := change(inplace); diff != "" || note == "" {
		t.Errorf("what nobody knows yet is shown as %q", diff)
	}
}
