// Command gocolumns prints the columns that the Kubernetes API server's tables have, by kind: the data that
// server/apiserver/printers/columns.json keeps. Run it inside a module that requires k8s.io/kubernetes v1.37.2:
//
//	go run ./gocolumns > server/apiserver/printers/columns.json
//
// A column is [name, type, format, priority, description].
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/printers/internalversion"
)

// packages are the groups whose tables the embedded server draws.
var packages = []string{"apis/core", "apis/apps", "apis/storage"}

var wanted = map[string]bool{
	"Pod": true, "PersistentVolumeClaim": true, "PersistentVolume": true, "StorageClass": true, "Node": true, "VolumeAttachment": true,
	"CSINode": true, "CSIDriver": true, "Event": true, "Namespace": true, "Secret": true, "ConfigMap": true, "ServiceAccount": true,
	"StatefulSet": true, "Deployment": true, "DaemonSet": true, "ReplicaSet": true, "VolumeAttributesClass": true, "CSIStorageCapacity": true,
}

type recorder struct {
	columns map[string][][]any
}

func (r *recorder) TableHandler(columns []metav1.TableColumnDefinition, printFunc interface{}) error {
	object := reflect.TypeOf(printFunc).In(0).Elem()
	for _, part := range packages {
		if !strings.HasSuffix(object.PkgPath(), part) || !wanted[object.Name()] {
			continue
		}
		for _, c := range columns {
			r.columns[object.Name()] = append(r.columns[object.Name()], []any{c.Name, c.Type, c.Format, c.Priority, c.Description})
		}
	}
	return nil
}

func main() {
	r := &recorder{columns: map[string][][]any{}}
	internalversion.AddHandlers(r)
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(r.columns); err != nil {
		panic(err)
	}
}
