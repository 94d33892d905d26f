package tools

import (
	"fmt"
	"time"
)

// buildingPause is how often the progress of a build is told: a bar that moves
// ten times a second looks as if it moved steadily.
const buildingPause = 100 * time.Millisecond

// TellBuilding tells how far the first build of these indexes is, until it is
// over or the function that it returns is called. told may be nil.
func TellBuilding(list []Searcher, told func(Progress)) (stop func()) {
	if told == nil || !tellBuild(list, told) {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(buildingPause)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if !tellBuild(list, told) {
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// tellBuild tells how far the first build is, and reports whether there is one.
func tellBuild(list []Searcher, told func(Progress)) bool {
	done, total, building := 0, 0, false
	for _, x := range list {
		if x == nil {
			continue
		}
		n, of, ok := x.Building()
		done, total, building = done+n, total+of, building || ok
	}
	switch {
	case !building:
	case total == 0:
		told(Progress{Message: fmt.Sprintf("the index is being built: %d files found", done), Total: 1})
	default:
		told(Progress{Message: fmt.Sprintf("the index is being built: %d of %d files", done, total), Done: done, Total: total})
	}
	return building
}
