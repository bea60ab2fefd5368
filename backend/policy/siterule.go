package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// SiteRule judges a page that a browser is about to open, by the host in its address. An
// empty list matches every site. Neither http or https nor the port counts.
type SiteRule struct {
	ID       string   `json:"id,omitempty"`
	Sites    []string `json:"sites,omitempty"` // example.com, *.example.com (what is below it), or *
	Decision Decision `json:"decision"`
	Message  string   `json:"message,omitempty"`
	Advice   string   `json:"advice,omitempty"`
	Off      bool     `json:"off,omitzero"`
}

// RuleNewSite is the id of the baseline's rule by which agents ask for every site that no
// other rule names.
const RuleNewSite = "site.new"

// newSite is the last of the baseline's rules for sites.
func newSite(d Decision) SiteRule {
	return SiteRule{ID: RuleNewSite, Sites: []string{"*"}, Decision: d, Message: "No rule names this site yet."}
}

// sitePattern is one entry of a rule's sites.
type sitePattern struct {
	host  string // as hostOf has it; empty: every host
	below bool   // what is below the host, and not the host itself
}

type siteRule struct {
	patterns []sitePattern // empty: every site
	says     Verdict
}

// maxHost is the longest name in DNS, in bytes.
const maxHost = 253

// hostOf is a host in the one spelling that is compared: lower case, without a dot at the
// end, and an address as netip writes it.
func hostOf(s string) (string, error) {
	s = strings.ToLower(s)
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		a, err := netip.ParseAddr(inner)
		if !ok || err != nil || !a.Is6() || a.Zone() != "" {
			return "", errors.New("it is no address")
		}
		return a.String(), nil
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		return a.String(), nil
	}
	s = strings.TrimSuffix(s, ".")
	if len(s) > maxHost {
		return "", errors.New("it is longer than a name can be")
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 {
			return "", errors.New("it is not the name of a host")
		}
		for _, c := range []byte(label) {
			switch {
			case c >= 0x80:
				return "", errors.New("it has letters that the addresses of browsers do not have")
			case (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_':
				return "", errors.New("it is not the name of a host")
			}
		}
	}
	return s, nil
}

func parseSite(s string) (p sitePattern, err error) {
	if s == "*" {
		return p, nil
	}
	s, p.below = strings.CutPrefix(s, "*.")
	p.host, err = hostOf(s)
	if err == nil && p.below {
		if _, is := netip.ParseAddr(p.host); is == nil {
			err = errors.New("nothing is below an address")
		}
	}
	return p, err
}

func (p sitePattern) match(host string) bool {
	switch {
	case p.host == "":
		return true
	case p.below:
		return strings.HasSuffix(host, "."+p.host)
	}
	return host == p.host
}

// covers: every host that b matches is one that p matches.
func (p sitePattern) covers(b sitePattern) bool {
	switch {
	case p.host == "":
		return true
	case b.host == "":
		return false
	case b.below:
		return p.below && (b.host == p.host || strings.HasSuffix(b.host, "."+p.host))
	}
	return p.match(b.host)
}

func compileSite(r SiteRule) (siteRule, error) {
	s := siteRule{says: Verdict{Decision: r.Decision, Rule: r.ID, Message: r.Message, Advice: r.Advice}}
	if err := checkDecision(r.Decision); err != nil {
		return s, err
	}
	for _, site := range r.Sites {
		p, err := parseSite(site)
		if err != nil {
			return s, fmt.Errorf("site %q: %w", site, err)
		}
		s.patterns = append(s.patterns, p)
	}
	return s, nil
}

// Check tells why the rule cannot be used; nil where it can.
func (r SiteRule) Check() error {
	_, err := compileSite(r)
	return err
}

// Site judges the opening of a page by the host of its address, which has no brackets and
// no port. What is no host is denied.
func (e *Engine) Site(host string) Verdict {
	host, err := hostOf(host)
	if err != nil {
		return Verdict{Decision: Deny, Message: "This is not an address that a rule can be trusted to cover."}
	}
	return e.strictest(func(l *layer) Verdict {
		for _, r := range l.sites {
			if len(r.patterns) == 0 || slices.ContainsFunc(r.patterns, func(p sitePattern) bool { return p.match(host) }) {
				return r.says
			}
		}
		return l.otherwise
	})
}

// CoversSite tells whether r matches every site that later matches.
func (r SiteRule) CoversSite(later SiteRule) bool {
	mine, err := compileSite(r)
	yours, err2 := compileSite(later)
	if err != nil || err2 != nil {
		return false
	}
	all := []sitePattern{{}}
	if len(mine.patterns) == 0 {
		mine.patterns = all
	}
	if len(yours.patterns) == 0 {
		yours.patterns = all
	}
	return !slices.ContainsFunc(yours.patterns, func(y sitePattern) bool {
		return !slices.ContainsFunc(mine.patterns, func(m sitePattern) bool { return m.covers(y) })
	})
}

// SitesAlone is p with its rules for sites and none of the others, for whoever judges
// nothing else.
func (p Policy) SitesAlone() Policy {
	p.PathRules, p.CommandRules, p.FileRules, p.Agents = nil, nil, nil, nil
	p.Tighten = slices.Clone(p.Tighten)
	for i := range p.Tighten {
		p.Tighten[i] = p.Tighten[i].SitesAlone()
	}
	return p
}

// WithoutSites is p as a supervisor in a container goes by it, which sees no browser.
func (p Policy) WithoutSites() Policy {
	p.SiteRules = nil
	p.Tighten = slices.Clone(p.Tighten)
	for i := range p.Tighten {
		p.Tighten[i] = p.Tighten[i].WithoutSites()
	}
	if p.Agents != nil {
		a := *p.Agents
		a.Policy = a.Policy.WithoutSites()
		p.Agents = &a
	}
	return p
}

// SiteOf is what a host belongs to as a whole: the domain that somebody has registered, or
// the host itself where it is an address, a name alone, or a suffix under which others
// register. It fails for what is no host.
func SiteOf(host string) (string, error) {
	host, err := hostOf(host)
	if err != nil {
		return "", err
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return host, nil
	}
	site, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return host, nil //nolint:nilerr // it is a suffix, or a name alone
	}
	return site, nil
}

// SuggestSite is the rule by which a site and everything below it is allowed.
func SuggestSite(site string) SiteRule {
	r := SiteRule{Sites: []string{site, "*." + site}, Decision: Allow}
	if r.Check() != nil { // nothing is below an address
		r.Sites = r.Sites[:1]
	}
	return r
}

// SiteWords name the sites of a rule as a person reads them.
func SiteWords(sites []string) string {
	if len(sites) == 0 || slices.Contains(sites, "*") {
		return "every site"
	}
	var words []string
	for _, s := range sites {
		host, below := strings.CutPrefix(s, "*.")
		switch {
		case below && slices.Contains(sites, host):
		case below:
			words = append(words, "what is below "+host)
		case slices.Contains(sites, "*."+s):
			words = append(words, s+" and its subdomains")
		default:
			words = append(words, s)
		}
	}
	return joinedFew(words)
}

// SiteWords say in a sentence what a rule says.
func (r SiteRule) SiteWords() string {
	return fmt.Sprintf("%s opening %s.", decisionWords[r.Decision], SiteWords(r.Sites))
}
