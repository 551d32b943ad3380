package boltlog

import "go.etcd.io/bbolt"

// known returns the offset of the record that has an ID, if it's among the
// last Dedupe ones.
func (e *edit) known(id string) (uint64, bool) {
	if id == "" || e.log.settings.Dedupe == 0 {
		return 0, false
	}
	offset, ok := e.ids[id]
	if !ok {
		offset, ok = e.log.ids[id]
	}
	return offset, ok && offset+uint64(e.log.settings.Dedupe) >= e.state.next
}

func (e *edit) remember(id string, offset uint64) error {
	if id == "" || e.log.settings.Dedupe == 0 {
		return nil
	}
	if e.ids == nil {
		e.ids = map[string]uint64{}
	}
	e.ids[id] = offset
	b, err := e.log.child(e.topic, idsBucket)
	if err != nil {
		return err
	}
	b.FillPercent = 1
	key := number(offset)
	return b.Put(key, e.log.scopes.ids.seal(key, append(make([]byte, sealSize), id...)))
}

// forgetIDs removes those of records that aren't among the last Dedupe ones.
func (e *edit) forgetIDs() error {
	b, err := e.log.child(e.topic, idsBucket)
	if err != nil {
		return err
	}
	c := b.Cursor()
	for key, value := c.First(); key != nil; key, value = c.First() {
		offset, id, err := e.log.readID(key, value)
		if err != nil || offset+uint64(e.log.settings.Dedupe) >= e.state.next {
			return err
		}
		if e.log.ids[id] == offset {
			e.forgotten = append(e.forgotten, id)
		}
		if e.ids[id] == offset {
			delete(e.ids, id)
		}
		if err := b.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) readID(key, value []byte) (offset uint64, id string, err error) {
	offset, isNumber := numberOf(key)
	content, ok := l.scopes.ids.open(key, value)
	if !ok || !isNumber {
		return 0, "", l.corrupt(offset, "ID")
	}
	return offset, string(content), nil
}

// loadIDs reads them all.
func (l *Log) loadIDs(topic *bbolt.Bucket) error {
	b, err := l.child(topic, idsBucket)
	if err != nil {
		return err
	}
	return b.ForEach(func(key, value []byte) error {
		offset, id, err := l.readID(key, value)
		l.ids[id] = offset
		return err
	})
}
