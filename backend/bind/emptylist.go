package bind

// orEmpty makes of a nil slice an empty one, which is [] in JSON and not null:
// a page that counts or walks what it gets need not ask first.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
