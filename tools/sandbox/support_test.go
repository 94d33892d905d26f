package sandbox

import (
	"context"
	"sync/atomic"

	"github.com/loomd/loomd/diffpreview"
)

func codeOf(err error) diffpreview.Code { return diffpreview.CodeOf(err) }

// failing is a context that ends after so many looks at it.
type failing struct {
	context.Context
	after int64
	looks atomic.Int64
}

func (f *failing) Err() error {
	if f.looks.Add(1) > f.after {
		return context.Canceled
	}
	return nil
}
