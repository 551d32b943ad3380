package herald

// UseSideLane makes s go through the side lane only, the reference for the
// plain one. To be called before s is used.
func UseSideLane[T any](s *Subscription[T]) { s.core.plain.on = false }
