package boltlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/heraldbus/herald/store"
)

// errMoved: while we waited for the lock the file was replaced by another one.
var errMoved = errors.New("boltlog: the file was replaced")

// open opens the file, locks it and looks at all of its structure before bbolt does.
func (s *Store) open() (usage, error) {
	deadline := time.Now().Add(s.config.lockTimeout)
	for {
		if err := s.create(); err != nil {
			return usage{}, err
		}
		u, err := s.openThis(deadline)
		if !errors.Is(err, errMoved) && (s.config.readOnly || !errors.Is(err, fs.ErrNotExist)) {
			return u, err
		}
		if time.Now().After(deadline) {
			return u, fmt.Errorf("%w: %w", store.ErrLocked, err)
		}
	}
}

func (s *Store) openThis(deadline time.Time) (u usage, err error) {
	var file *os.File
	openFile := func(path string, flag int, mode os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(path, flag&^os.O_CREATE, mode)
		if err != nil {
			return nil, err
		}
		file = f
		if u, err = claim(f, path, s.config.readOnly, deadline); err != nil {
			_ = f.Close()
			return nil, err
		}
		return f, nil
	}
	err = guard(func() (err error) {
		s.writer.db, err = bbolt.Open(s.path, 0o600, s.boltOptions(openFile))
		return err
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return u, store.ErrLocked
	}
	if err != nil {
		if file != nil {
			_ = file.Close() // with the lock, if bbolt has left it
		}
		return u, fmt.Errorf("open %s: %w", s.path, err)
	}
	s.writer.file = file
	if err := s.checkFormat(); err != nil {
		_ = guard(s.writer.db.Close)
		return u, fmt.Errorf("open %s: %w", s.path, err)
	}
	return u, nil
}

func (s *Store) boltOptions(openFile func(string, int, os.FileMode) (*os.File, error)) *bbolt.Options {
	return &bbolt.Options{
		Timeout:      max(s.config.lockTimeout, time.Millisecond),
		FreelistType: bbolt.FreelistMapType,
		ReadOnly:     s.config.readOnly,
		MaxSize:      int(s.config.maxSize),
		OpenFile:     openFile,
	}
}

// claim locks f, makes sure that it's still what path leads to, and inspects it.
func claim(f *os.File, path string, shared bool, deadline time.Time) (usage, error) {
	if err := lock(f, shared, deadline); err != nil {
		return usage{}, err
	}
	mine, err := f.Stat()
	if err != nil {
		return usage{}, err
	}
	there, err := os.Stat(path)
	if err != nil {
		return usage{}, err
	}
	if !os.SameFile(mine, there) {
		return usage{}, errMoved
	}
	return inspect(f, mine.Size())
}

// create makes an empty store unless there's something. It appears whole and durable, or not at
// all; of two processes one makes it.
func (s *Store) create() error {
	path := s.path
	if s.config.readOnly || exists(path) {
		return nil
	}
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(filepath.Clean(dir+"."), name+newSuffix+"*")
	if err != nil {
		return err
	}
	temp := f.Name()
	defer func() { _ = os.Remove(temp) }()
	if err := f.Close(); err != nil {
		return err
	}
	if err := writeEmpty(temp, s.config.pageSize); err != nil {
		return err
	}
	err = os.Link(temp, path)
	if errors.Is(err, fs.ErrExist) || err != nil && exists(path) { // another process was first, and may have swept
		err = nil
	}
	return errors.Join(err, syncDir(path))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// What files are called that are about to become the store's.
const (
	newSuffix     = ".new-"
	compactSuffix = ".compact"
)

func writeEmpty(path string, pageSize int) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType, PageSize: pageSize})
	if err != nil {
		return err
	}
	if err := db.Update(writeFormat); err != nil {
		_ = db.Close()
		return err
	}
	return db.Close()
}

// syncDir makes a name durable that was given to a file.
func syncDir(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = dir.Sync()
	return errors.Join(err, dir.Close())
}

// sweep removes what processes left behind that were killed at the wrong
// moment. Nobody else is at it: we have the lock.
func (s *Store) sweep() {
	left, _ := filepath.Glob(globQuote(s.path) + newSuffix + "*")
	for _, path := range append(left, s.path+compactSuffix) {
		_ = os.Remove(path)
	}
}

// globQuote is the pattern that matches path only.
func globQuote(path string) string {
	var b []rune
	for _, r := range path {
		if r == '*' || r == '?' || r == '[' || r == '\\' && filepath.Separator != '\\' {
			b = append(b, '\\')
		}
		b = append(b, r)
	}
	return string(b)
}
