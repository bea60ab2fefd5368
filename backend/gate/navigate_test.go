package gate

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

// opened is a page of which the verdict is still to come.
type opened struct {
	verdict chan error
	leave   context.CancelFunc
}

var newSite = policy.Verdict{Decision: policy.Approve, Rule: policy.RuleNewSite, Message: "No rule names this site yet."}

func (r *rig) opens(spawn core.SpawnID, tool, url string, says policy.Verdict) opened {
	r.t.Helper()
	ctx, leave := context.WithCancel(r.ctx)
	o := opened{make(chan error, 1), leave}
	n := Navigation{Channel: "chan", By: core.Caller{ChannelID: "chan", SpawnID: spawn}, Tool: tool, URL: url, Says: says}
	r.calls.Go(func() { o.verdict <- r.Navigate(ctx, n) })
	synctest.Wait()
	return o
}

func (r *rig) comes(o opened, part string) {
	r.t.Helper()
	synctest.Wait()
	select {
	case err := <-o.verdict:
		f := core.AsFailure(err)
		switch {
		case part == "" && err != nil:
			r.t.Errorf("not opened: %v", err)
		case part != "" && (err == nil || f.Code != core.CodeForbidden || !strings.Contains(f.Cause+" "+f.Remedy, part)):
			r.t.Errorf("%v, want %q", err, part)
		}
	default:
		r.t.Error("it still waits")
	}
}

func (r *rig) only() core.Approval {
	r.t.Helper()
	list := r.Pending()
	if len(list) != 1 {
		r.t.Fatalf("%d questions, want 1: %+v", len(list), list)
	}
	return list[0]
}

func (r *rig) tell(a core.Approval, allow bool, scope core.ApprovalScope) {
	r.t.Helper()
	if _, err := r.Answer(r.ctx, a.ID, core.ApprovalAnswer{Allow: allow, Scope: scope, Digest: a.Digest, By: "window"}); err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
}

func TestNavigationIsAskedAbout(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		one := r.opens("spawn1", "navigate", "https://www.example.com/a?b=c", newSite)
		q := r.only()
		if q.Kind != core.ApprovalNavigate || q.Operation != "navigate" || q.Target != "https://www.example.com/a?b=c" || q.Site != "example.com" ||
			q.RunID != "run1" || q.Title != "Open a site" || q.Why != "No rule names this site yet." || q.Risk == "" || q.Rule != policy.RuleNewSite {
			t.Errorf("%+v", q)
		}
		if len(q.Details) != 1 || q.Details[0].Label != "Who" || !strings.Contains(q.Details[0].Text, "browser tool navigate") {
			t.Errorf("%+v", q.Details)
		}
		if len(q.Offers) != 3 || q.Offers[1].Pattern != "example.com and its subdomains" ||
			q.Offers[1].Rule != `{"sites":["example.com","*.example.com"],"decision":"allow"}` {
			t.Errorf("%+v", q.Offers)
		}
		// A hundred other pages of the site are the same question.
		var more []opened
		for range 100 {
			more = append(more, r.opens("spawn1", "navigate", "https://example.com/"+core.NewID(), newSite))
		}
		other := r.opens("spawn1", "navigate", "https://example.org/", newSite)
		if len(r.Pending()) != 2 {
			t.Errorf("%d questions", len(r.Pending()))
		}
		r.tell(q, true, core.ScopeOnce)
		r.comes(one, "")
		for _, o := range more {
			r.comes(o, "")
		}
		r.tell(r.only(), false, core.ScopeOnce)
		r.comes(other, "The person denied opening https://example.org/.")
		// For a moment once holds for what follows within the site, such as its redirects.
		r.comes(r.opens("spawn1", "", "https://login.example.com/", newSite), "")
	})
}

func TestNavigationForTheRunAndForGood(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		o := r.opens("spawn1", "navigate", "https://a.com/", newSite)
		r.tell(r.only(), true, core.ScopeRun)
		r.comes(o, "")
		r.comes(r.opens("spawn1", "computer", "http://sub.a.com/x", newSite), "")
		o = r.opens("spawn2", "navigate", "https://a.com/", newSite)
		page := r.opens("", "", "https://a.com/", newSite)
		if len(r.Pending()) != 2 {
			t.Fatalf("%+v", r.Pending())
		}
		for _, q := range r.Pending() {
			if q.RunID == "" {
				if !strings.Contains(q.Details[0].Text, "a page in the browser") {
					t.Errorf("%+v", q.Details)
				}
				r.tell(q, true, core.ScopeAlways)
			}
		}
		r.comes(page, "")
		r.comes(o, "") // it waited, and is covered
		if len(r.rules.list) != 1 || r.rules.list[0].Site == nil {
			t.Errorf("%+v", r.rules.list)
		}
		// What is stored is in the rules, by which the next one is judged: it counts as they say.
		o = r.opens("spawn2", "navigate", "https://a.com/", newSite)
		r.tell(r.only(), false, core.ScopeRun)
		r.comes(o, "The person denied")
		r.comes(r.opens("spawn2", "navigate", "https://a.com/", newSite), "The person denied")
	})
}

func TestNavigationWithoutAQuestion(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.comes(r.opens("alone", "navigate", "https://a.com/", newSite), "works unattended, so nobody can allow it")
		r.comes(r.opens("spawn1", "navigate", "https://a.com/", policy.Verdict{Decision: policy.Allow, Rule: "mine"}), "")
		r.comes(r.opens("spawn1", "navigate", "https://a.com/", policy.Verdict{Decision: policy.Deny, Rule: "no", Message: "Not there.", Advice: "Ask Ana."}),
			"A rule of the gate denies opening https://a.com/. Not there. The page is as it was. Ask Ana.")
		r.comes(r.opens("spawn1", "navigate", "https://a.com/", policy.Verdict{}), "A rule of the gate denies") // a decision that nobody knows
		for _, url := range []string{"", "file:///etc/passwd", "https://", "https://bücher.de/", "https://a.com/" + strings.Repeat("x", MaxAddress), "%"} {
			r.comes(r.opens("spawn1", "navigate", url, newSite), "cannot read the address")
		}
		if len(r.Pending()) > 0 {
			t.Errorf("%+v", r.Pending())
		}
		decisions := map[string]string{}
		for _, rec := range r.audit.all() {
			if rec.Kind != string(core.ApprovalNavigate) || rec.Target != "https://a.com/" {
				t.Errorf("%+v", rec)
			}
			decisions[rec.By+" "+rec.Rule] = rec.Decision
		}
		if decisions["a rule mine"] != "allowed" || decisions["a rule no"] != "denied" || decisions["the policy "+policy.RuleNewSite] != "denied" {
			t.Errorf("%v", decisions)
		}
	})
}

func TestNavigationThatNobodyWaitsFor(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		o := r.opens("spawn1", "navigate", "https://a.com/", newSite)
		o.leave()
		r.comes(o, "nothing waits for it any more")
		if len(r.Pending()) > 0 {
			t.Errorf("%+v", r.Pending())
		}
		o = r.opens("spawn1", "navigate", "https://a.com/", newSite)
		r.Stop("run1", "The run was stopped.")
		r.comes(o, "The run was stopped.")
		o = r.opens("spawn2", "navigate", "https://b.com/", newSite)
		r.Dismiss("spawn2")
		r.comes(o, "nothing waits for it any more")
		r.audit.fail(context.DeadlineExceeded)
		r.comes(r.opens("", "", "https://a.com/", policy.Verdict{Decision: policy.Allow}), "cannot write its record")
	})
}

func TestNavigationSaysWhatMisleads(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.opens("spawn1", "navigate", "https://paypal.com@xn--80ak6aa92e.com/", newSite)
		q := r.only()
		var said string
		for _, d := range q.Details {
			said += d.Label + ": " + d.Text + "\n"
		}
		if q.Site != "xn--80ak6aa92e.com" || !strings.Contains(said, "Beware: ") || !strings.Contains(said, "Reads as: аррӏе.com") {
			t.Errorf("%s %s", q.Site, said)
		}
	})
}

// TestContainersCannotAskForPages: only a browser does.
func TestContainersCannotAskForPages(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		v := r.now(r.held("spawn1", wire.Approval{Kind: "navigate", Operation: "navigate", Target: "https://a.com/", Identity: "a.com", Act: act("x")}))
		if v.Allow || !strings.Contains(v.Text, "cannot read") {
			t.Errorf("%+v", v)
		}
	})
}
