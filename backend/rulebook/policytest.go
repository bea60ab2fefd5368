package rulebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/policy"
)

// PolicyTest is a file of expected decisions, as docs/gate-policy.md describes it.
type PolicyTest struct {
	Policy       string               `json:"policy"` // agent (the default), person, system or plan
	Place        TestPlace            `json:"place"`
	PathRules    []policy.PathRule    `json:"path_rules"` // these go before the person's own
	CommandRules []policy.CommandRule `json:"command_rules"`
	FileRules    []policy.FileRule    `json:"file_rules"`
	SiteRules    []policy.SiteRule    `json:"site_rules"`
	Cases        []TestCase           `json:"cases"`
}

// TestPlace says where things lie in the container of a test.
type TestPlace struct {
	Home             string   `json:"home"` // /home/agent, if it is empty
	Workspaces       []string `json:"workspaces"`
	State            []string `json:"state"`
	CredentialGrants []string `json:"credential_grants"`
}

// TestCase is one call and what is to become of it. It has Path with an Operation,
// Connect, Exec, or Site.
type TestCase struct {
	Operation policy.Operation `json:"operation"`
	Path      string           `json:"path"` // ~ is the home
	Connect   string           `json:"connect"`
	Exec      []string         `json:"exec"` // the arguments with the program's path first
	Site      string           `json:"site"` // a host, or an address of which its host counts
	Want      policy.Decision  `json:"want"`
}

const (
	maxTest      = 1 << 20
	maxTestCases = 10000
	testHome     = "/home/agent"
)

// ParseTest reads a policy test strictly. An error is a Failure with the line.
func ParseTest(doc []byte) (PolicyTest, error) {
	var t PolicyTest
	if len(doc) > maxTest {
		return t, core.Fail(core.CodeInvalid, nil, "The test of a policy is larger than 1 MiB.", "Split it into several files.")
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	err := dec.Decode(&t)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the test")
		}
	}
	if err != nil {
		line := bytes.Count(doc[:min(int(dec.InputOffset()), len(doc))], []byte("\n")) + 1
		return t, core.Fail(core.CodeInvalid, err, fmt.Sprintf("The test of a policy cannot be read, near line %d: %v.", line, err),
			"Correct it; docs/gate-policy.md describes the form.")
	}
	if len(t.Cases) == 0 || len(t.Cases) > maxTestCases {
		return t, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The test of a policy has %d cases.", len(t.Cases)),
			"Write at least one, and at most 10,000.")
	}
	for i, c := range t.Cases {
		if err := c.check(); err != nil {
			return t, core.Fail(core.CodeInvalid, err, fmt.Sprintf("Case %d of the test cannot be tried: %v.", i+1, err),
				"Correct it; docs/gate-policy.md describes the form.")
		}
	}
	return t, nil
}

func (c TestCase) check() error {
	kinds := 0
	for _, has := range []bool{c.Path != "", c.Connect != "", len(c.Exec) > 0, c.Site != ""} {
		if has {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return errors.New("it needs one of path, connect, exec and site")
	case (c.Path != "") != (c.Operation != ""):
		return errors.New("a path needs an operation, and nothing else has one")
	case c.Operation != "" && !slices.Contains(testable, c.Operation):
		return fmt.Errorf("nobody knows the operation %q", c.Operation)
	case c.Want != policy.Allow && c.Want != policy.Approve && c.Want != policy.Deny:
		return fmt.Errorf("want is %q, and not allow, approve or deny", c.Want)
	}
	return nil
}

var testable = []policy.Operation{policy.Read, policy.Write, policy.Create, policy.Delete, policy.Chmod, policy.Chown, policy.Link}

// Test tries the cases of a test with the rules that count in a channel: the very engine
// that decides in its containers. A channel without a folder has the person's rules alone.
func (p Policies) Test(t PolicyTest, ch core.Channel) ([]core.GateTestResult, error) {
	place := policy.Place{Home: t.Place.Home, Workspaces: t.Place.Workspaces, State: t.Place.State, CredentialGrants: t.Place.CredentialGrants}
	if place.Home == "" {
		place.Home = testHome
	}
	name := t.Policy
	if name == "" {
		name = policy.NameAgent
	}
	base, err := policy.Baseline(name, place)
	if err != nil {
		return nil, core.Fail(core.CodeInvalid, err, "The test names a policy or a place that there is none of.",
			"Name agent, person, system or plan, and write absolute paths.")
	}
	e, err := p.Settings.ForPolicy(ch)
	if err != nil {
		return nil, err
	}
	person, err := p.person(ch, e, name)
	if err != nil {
		return nil, err
	}
	person.PathRules = slices.Concat(t.PathRules, person.PathRules)
	person.CommandRules = slices.Concat(t.CommandRules, person.CommandRules)
	person.FileRules = slices.Concat(t.FileRules, person.FileRules)
	person.SiteRules = slices.Concat(t.SiteRules, person.SiteRules)
	engine, err := compiled(policy.Merge(base, named(person), projectsOf(e)...))
	if err != nil {
		return nil, err
	}
	out := make([]core.GateTestResult, 0, len(t.Cases))
	for i, c := range t.Cases {
		what, v := c.try(engine, place.Home)
		out = append(out, core.GateTestResult{
			Case: i + 1, What: what, Want: string(c.Want), Got: string(v.Decision), Rule: v.Rule, Message: v.Message,
		})
	}
	return out, nil
}

// compiled is the engine of a policy whose rules a person has written.
func compiled(p policy.Policy) (*policy.Engine, error) {
	p, err := policy.Parse(p.Encode())
	if err != nil {
		return nil, ruleFailure(err)
	}
	engine, err := policy.Compile(p)
	if err != nil {
		return nil, ruleFailure(err)
	}
	return engine, nil
}

func (c TestCase) try(e *policy.Engine, home string) (what string, v policy.Verdict) {
	switch {
	case c.Connect != "":
		to := inHome(c.Connect, home)
		return "connect " + to, e.Connect(to)
	case c.Site != "":
		return "open " + c.Site, e.Site(hostOf(c.Site))
	case len(c.Exec) > 0:
		return "run " + strings.Join(c.Exec, " "), e.Exec(policy.Command{Path: inHome(c.Exec[0], home), Argv: c.Exec})
	}
	path := inHome(c.Path, home)
	return string(c.Operation) + " " + path, e.File(c.Operation, path)
}

// hostOf is the host of an address, or the host that was given by itself.
func hostOf(site string) string {
	u, err := url.Parse(site)
	if err != nil || u.Host == "" {
		if u, err = url.Parse("http://" + site); err != nil {
			return site
		}
	}
	return u.Hostname()
}

func inHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return home + "/" + rest
	}
	return path
}
