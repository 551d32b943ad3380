module github.com/heraldbus/herald/boltlog

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/heraldbus/herald v0.0.0
	go.etcd.io/bbolt v1.5.0
)

require golang.org/x/sys v0.45.0 // indirect

replace github.com/heraldbus/herald => ../
