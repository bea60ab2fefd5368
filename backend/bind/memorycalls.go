package bind

// PageMemory keeps short texts by name: layouts, sizes and open panels for the page's
// next start.
type PageMemory interface {
	All() map[string]string
	Keep(key, value string) error
}

// Memory returns everything that the page has asked to keep.
func (s *System) Memory() map[string]string { return s.Kept.All() }

// Keep stores a value under a name, or forgets the name when the value is empty.
func (s *System) Keep(key, value string) error { return s.Kept.Keep(key, value) }
