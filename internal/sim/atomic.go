package sim

import "sync/atomic"

// look is the yield point before an atomic operation.
func look() {
	if r := active.Load(); r != nil {
		r.yield(outer())
	}
}

// Int32 stands in for the type of its name in sync/atomic.
type Int32 struct{ v atomic.Int32 }

// Load is the method of that name.
func (a *Int32) Load() int32 {
	look()
	return a.v.Load()
}

// Store is the method of that name.
func (a *Int32) Store(v int32) {
	look()
	a.v.Store(v)
}

// Swap is the method of that name.
func (a *Int32) Swap(v int32) int32 {
	look()
	return a.v.Swap(v)
}

// CompareAndSwap is the method of that name.
func (a *Int32) CompareAndSwap(old, v int32) bool {
	look()
	return a.v.CompareAndSwap(old, v)
}

// Add is the method of that name.
func (a *Int32) Add(d int32) int32 {
	look()
	return a.v.Add(d)
}

// And is the method of that name.
func (a *Int32) And(mask int32) int32 {
	look()
	return a.v.And(mask)
}

// Or is the method of that name.
func (a *Int32) Or(mask int32) int32 {
	look()
	return a.v.Or(mask)
}

// Int64 stands in for the type of its name in sync/atomic.
type Int64 struct{ v atomic.Int64 }

// Load is the method of that name.
func (a *Int64) Load() int64 {
	look()
	return a.v.Load()
}

// Store is the method of that name.
func (a *Int64) Store(v int64) {
	look()
	a.v.Store(v)
}

// Swap is the method of that name.
func (a *Int64) Swap(v int64) int64 {
	look()
	return a.v.Swap(v)
}

// CompareAndSwap is the method of that name.
func (a *Int64) CompareAndSwap(old, v int64) bool {
	look()
	return a.v.CompareAndSwap(old, v)
}

// Add is the method of that name.
func (a *Int64) Add(d int64) int64 {
	look()
	return a.v.Add(d)
}

// And is the method of that name.
func (a *Int64) And(mask int64) int64 {
	look()
	return a.v.And(mask)
}

// Or is the method of that name.
func (a *Int64) Or(mask int64) int64 {
	look()
	return a.v.Or(mask)
}

// Uint32 stands in for the type of its name in sync/atomic.
type Uint32 struct{ v atomic.Uint32 }

// Load is the method of that name.
func (a *Uint32) Load() uint32 {
	look()
	return a.v.Load()
}

// Store is the method of that name.
func (a *Uint32) Store(v uint32) {
	look()
	a.v.Store(v)
}

// Swap is the method of that name.
func (a *Uint32) Swap(v uint32) uint32 {
	look()
	return a.v.Swap(v)
}

// CompareAndSwap is the method of that name.
func (a *Uint32) CompareAndSwap(old, v uint32) bool {
	look()
	return a.v.CompareAndSwap(old, v)
}

// Add is the method of that name.
func (a *Uint32) Add(d uint32) uint32 {
	look()
	return a.v.Add(d)
}

// And is the method of that name.
func (a *Uint32) And(mask uint32) uint32 {
	look()
	return a.v.And(mask)
}

// Or is the method of that name.
func (a *Uint32) Or(mask uint32) uint32 {
	look()
	return a.v.Or(mask)
}

// Uint64 stands in for the type of its name in sync/atomic.
type Uint64 struct{ v atomic.Uint64 }

// Load is the method of that name.
func (a *Uint64) Load() uint64 {
	look()
	return a.v.Load()
}

// Store is the method of that name.
func (a *Uint64) Store(v uint64) {
	look()
	a.v.Store(v)
}

// Swap is the method of that name.
func (a *Uint64) Swap(v uint64) uint64 {
	look()
	return a.v.Swap(v)
}

// CompareAndSwap is the method of that name.
func (a *Uint64) CompareAndSwap(old, v uint64) bool {
	look()
	return a.v.CompareAndSwap(old, v)
}

// Add is the method of that name.
func (a *Uint64) Add(d uint64) uint64 {
	look()
	return a.v.Add(d)
}

// And is the method of that name.
func (a *Uint64) And(mask uint64) uint64 {
	look()
	return a.v.And(mask)
}

// Or is the method of that name.
func (a *Uint64) Or(mask uint64) uint64 {
	look()
	return a.v.Or(mask)
}

// Bool stands in for the type of its name in sync/atomic.
type Bool struct{ v atomic.Bool }

// Load is the method of that name.
func (a *Bool) Load() bool {
	look()
	return a.v.Load()
}

// Store is the method of that name.
func (a *Bool) Store(v bool) {
	look()
	a.v.Store(v)
}

// Swap is the method of that name.
func (a *Bool) Swap(v bool) bool {
	look()
	return a.v.Swap(v)
}

// CompareAndSwap is the method of that name.
func (a *Bool) CompareAndSwap(old, v bool) bool {
	look()
	return a.v.CompareAndSwap(old, v)
}

// Pointer stands in for the type of its name in sync/atomic.
type Pointer[T any] struct{ v atomic.Pointer[T] }

// Load is the method of that name.
func (a *Pointer[T]) Load() *T {
	look()
	return a.v.Load()
}

// Store is the method of that name.
func (a *Pointer[T]) Store(v *T) {
	look()
	a.v.Store(v)
}

// Swap is the method of that name.
func (a *Pointer[T]) Swap(v *T) *T {
	look()
	return a.v.Swap(v)
}

// CompareAndSwap is the method of that name.
func (a *Pointer[T]) CompareAndSwap(old, v *T) bool {
	look()
	return a.v.CompareAndSwap(old, v)
}
