package bind

// orEmpty makes of a nil slice an empty one, which is [] in JSON and not null:
// a page that counts or walks what it gets need not ask first.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// listed is orEmpty for the answer of a service.
func listed[T any](list []T, err error) ([]T, error) { return orEmpty(list), err }
