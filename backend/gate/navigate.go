package gate

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"golang.org/x/net/idna"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

// kindNavigate is the kind of what no supervisor holds but a channel's browser: none may
// come from a container.
const kindNavigate = string(core.ApprovalNavigate)

// MaxAddress is the longest address that a person is asked about, in bytes. A longer one
// could not be shown whole, and is denied.
const MaxAddress = 16 << 10

// Navigation is a page that a browser holds before anything of it is sent.
type Navigation struct {
	Channel core.ChannelID
	By      core.Caller    // the agent that drives, or has driven last; zero: none has
	Tool    string         // of the agent, under way; empty: a page does it by itself
	URL     string         // http or https
	Says    policy.Verdict // what the rules say
}

// Navigate returns nil as soon as a page may be opened. ctx ends when nothing waits for it
// any more. Errors are *core.Failure, in sentences for the agent.
func (s *Service) Navigate(ctx context.Context, n Navigation) error {
	a, err := n.act()
	if err != nil {
		return core.Fail(core.CodeForbidden, err, "Loop cannot read the address that the browser is about to open, so it was not opened.",
			"Open a plain http or https address of at most 16 KiB.")
	}
	who := s.driver(n)
	var v core.Verdict
	switch n.Says.Decision {
	case policy.Allow:
		v = s.settled(who, a, outcome{state: core.ApprovalAllowed, by: byRule(a.Rule)})
	case policy.Approve:
		v = s.wait(ctx, who, a)
	default:
		v = s.settled(who, a, outcome{state: core.ApprovalDenied, by: byRule(a.Rule), reason: a.Message})
	}
	if v.Allow {
		return nil
	}
	return n.refusal(v)
}

// act is a navigation as the queue has it.
func (n Navigation) act() (wire.Approval, error) {
	a := wire.Approval{Kind: kindNavigate, Operation: kindNavigate, Target: n.URL, Rule: n.Says.Rule, Message: n.Says.Message}
	if len(n.URL) > MaxAddress {
		return a, errors.New("address too long")
	}
	u, err := url.Parse(n.URL)
	switch {
	case err != nil:
		return a, err
	case u.Scheme != "http" && u.Scheme != "https":
		return a, errors.New("neither http nor https")
	}
	if a.Identity, err = policy.SiteOf(u.Hostname()); err != nil {
		return a, err
	}
	a.Target = strings.ToValidUTF8(n.URL, "�")
	a.Act = hashed(kindNavigate, a.Identity)
	a.Details = map[string]string{"who": "a page in the browser, by itself"}
	if n.Tool != "" {
		a.Details["who"] = "the agent, by its browser tool " + core.Shortened(n.Tool, 40)
	}
	if u.User != nil {
		a.Details["beware"] = "the address begins with a name or password; the site is what follows the @"
	}
	if strings.Contains(a.Identity, "xn--") {
		if letters, err := idna.ToUnicode(a.Identity); err == nil && letters != a.Identity {
			a.Details["reads as"] = letters + ", whose letters may look like those of another site"
		}
	}
	return a, nil
}

// siteOf is the part of the host that a question is about.
func siteOf(a wire.Approval) string {
	if a.Kind == kindNavigate {
		return a.Identity
	}
	return ""
}

// driver is who asks for a page: the programs of the agent that drives or drove last, as
// long as they are known, or else the channel's browser itself.
func (s *Service) driver(n Navigation) *asker {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.askers[n.By.SpawnID]; a != nil && n.By.SpawnID != "" && a.ChannelID == n.Channel {
		return a
	}
	for _, a := range s.askers { // over TCP a caller is known by its run alone
		if n.By.SpawnID == "" && n.By.RunID != "" && a.RunID == n.By.RunID && a.ChannelID == n.Channel {
			return a
		}
	}
	return &asker{who: who{ChannelID: n.Channel}, spawn: core.SpawnID("browser-" + string(n.Channel)), nth: s.memory.admitted}
}

// refusal says who did not let a page be opened, and what to do.
func (n Navigation) refusal(v core.Verdict) error {
	at := core.Shortened(strings.ToValidUTF8(n.URL, "�"), 300)
	const stays = "The page is as it was. "
	switch {
	case n.Says.Decision != policy.Approve && n.Says.Decision != policy.Allow:
		cause := "A rule of the gate denies opening " + at + "."
		if n.Says.Message != "" {
			cause += " " + n.Says.Message
		}
		advice := n.Says.Advice
		if advice == "" {
			advice = "Go on without it, or ask the person to change the rule."
		}
		return core.Fail(core.CodeForbidden, nil, cause, stays+advice)
	case v.By == wire.ByPerson:
		return core.Fail(core.CodeForbidden, nil, "The person denied opening "+at+".",
			stays+"Do not look for another way to it: go on without it, or ask in a message.")
	case v.By == wire.ByTime:
		return core.Fail(core.CodeForbidden, nil, "Nobody answered in time whether "+at+" may be opened, so it was denied.",
			stays+"Go on without it, or say in a message that you need it.")
	case v.Text == "":
		v.Text = "nothing waits for it any more"
	}
	return core.Fail(core.CodeForbidden, nil, at+" was not opened: "+strings.TrimSuffix(v.Text, ".")+".",
		stays+"Go on without it, and say in your answer that it was not opened.")
}
