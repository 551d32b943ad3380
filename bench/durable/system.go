package main

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.etcd.io/bbolt"

	"github.com/heraldbus/herald/boltlog"
	"github.com/heraldbus/herald/store"
)

// payload is the length of a record's data.
const payload = 128

// A system makes records durable. publish may be called at the same time; i tells records apart.
type system struct {
	name  string
	start func(dir string, publishers int) (running, error)
}

// A running is a system that has been started.
type running struct {
	publish func(i int64) error
	count   func() (int64, error) // how many records there are
	stop    func() error
	each    int  // records made durable by one publish
	alone   bool // one caller publishes for all
}

var systems = []system{
	{"boltlog", startBoltlog},
	{"bbolt Batch", startBatch},
	{"NATS JetStream, SyncAlways", startNATS},
	{"fsync of the same bytes", startSync},
}

func startBoltlog(dir string, _ int) (running, error) {
	s, err := boltlog.Open(filepath.Join(dir, "boltlog.db"))
	if err != nil {
		return running{}, err
	}
	ctx := context.Background()
	l, err := s.Open(ctx, "bench", store.Settings{})
	if err != nil {
		return running{}, errors.Join(err, s.Close())
	}
	at := time.Now()
	return running{
		publish: func(int64) error { return l.Append(ctx, []store.Record{{Time: at, Data: make([]byte, payload)}}) },
		count:   func() (int64, error) { return int64(l.Bounds().Next - 1), nil },
		stop:    s.Close,
		each:    1,
	}, nil
}

func startBatch(dir string, _ int) (running, error) {
	db, err := bbolt.Open(filepath.Join(dir, "batch.db"), 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return running{}, err
	}
	bucket := []byte("bench")
	err = db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket(bucket); return err })
	if err != nil {
		return running{}, errors.Join(err, db.Close())
	}
	return running{
		publish: func(i int64) error {
			return db.Batch(func(tx *bbolt.Tx) error {
				return tx.Bucket(bucket).Put(binary.BigEndian.AppendUint64(nil, uint64(i)), make([]byte, payload))
			})
		},
		count: func() (n int64, err error) {
			err = db.View(func(tx *bbolt.Tx) error { n = int64(tx.Bucket(bucket).Stats().KeyN); return nil })
			return n, err
		},
		stop: db.Close,
		each: 1,
	}, nil
}

// startNATS starts a server in this process, without a network, that syncs
// each message before it acknowledges it.
func startNATS(dir string, _ int) (running, error) {
	s, err := server.NewServer(&server.Options{
		JetStream: true, StoreDir: dir, SyncAlways: true, DontListen: true, NoLog: true, NoSigs: true,
	})
	if err != nil {
		return running{}, err
	}
	s.Start()
	stop := func() error { s.Shutdown(); s.WaitForShutdown(); return nil }
	if !s.ReadyForConnections(10 * time.Second) {
		return running{}, errors.Join(errors.New("NATS doesn't start"), stop())
	}
	js, stream, err := connectNATS(s)
	if err != nil {
		return running{}, errors.Join(err, stop())
	}
	ctx := context.Background()
	return running{
		publish: func(int64) error { _, err := js.Publish(ctx, "bench", make([]byte, payload)); return err },
		count: func() (int64, error) {
			info, err := stream.Info(ctx)
			if err != nil {
				return 0, err
			}
			return int64(info.State.Msgs), nil
		},
		stop: func() error { js.Conn().Close(); return stop() },
		each: 1,
	}, nil
}

func connectNATS(s *server.Server) (jetstream.JetStream, jetstream.Stream, error) {
	conn, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, nil, err
	}
	stream, err := js.CreateStream(context.Background(), jetstream.StreamConfig{Name: "bench", Subjects: []string{"bench"}, Storage: jetstream.FileStorage})
	return js, stream, err
}

// startSync writes the bytes of one record of each publisher at once, and
// syncs once for all of them.
func startSync(dir string, publishers int) (running, error) {
	f, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return running{}, err
	}
	data := make([]byte, publishers*payload)
	return running{
		publish: func(int64) error {
			if _, err := f.Write(data); err != nil {
				return err
			}
			return f.Sync()
		},
		count: func() (int64, error) {
			info, err := f.Stat()
			if err != nil {
				return 0, err
			}
			return info.Size() / payload, nil
		},
		stop:  f.Close,
		each:  publishers,
		alone: true,
	}, nil
}
