package bind

// PageMemory keeps what the page wants to find again: layouts, sizes, what is
// open. It means nothing to Loop.
type PageMemory interface {
	All() map[string]string
	Keep(key, value string) error
}

// Memory is everything the page has had kept.
func (s *System) Memory() map[string]string { return s.Kept.All() }

// Keep has one value kept under a name, or forgotten when it is empty.
func (s *System) Keep(key, value string) error { return s.Kept.Keep(key, value) }
