package policy

// Strictness of policies by their names. Programs may not act through others whose policy
// is laxer.
const (
	Lax       = iota // a person's, and Loop's own: they ask little, because nobody but those is at work
	Strict           // an agent's, and any other
	Strictest        // that of a run which only plans
)

// Strictness is Lax, Strict or Strictest.
func (e *Engine) Strictness() int {
	switch e.name {
	case NamePerson, NameSystem:
		return Lax
	case NamePlan:
		return Strictest
	}
	return Strict
}
