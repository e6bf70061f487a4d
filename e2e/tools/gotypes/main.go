// Command gotypes prints the Go types behind the Kubernetes API as one JSON document: the data that
// lib/kube/go-types.json keeps. Run it inside a module that requires k8s.io/kubernetes v1.37.2:
//
//	go run ./gotypes > lib/kube/go-types.json
//
// A struct is a list of fields "json|go|type|omit|strategy|key|number": the JSON name ("" where the struct is
// embedded), the Go name where it differs by more than its first letter, the type, "o" for omitempty or
// "z" for omitzero, the strategic merge tags, and the number in protobuf. Types: s string, b bool, i32, i64, f64, by bytes, Q
// Quantity, T Time, M MicroTime, IS IntOrString, D Duration, RAW RawExtension, F FieldsV1; s:NAME names
// a string type; * pointer, [] list, {} map from string ({NAME} from a named string); else a struct.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/storage"
)

var special = map[string]string{
	"k8s.io/apimachinery/pkg/api/resource.Quantity":   "Q",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":       "T",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":  "M",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":   "D",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":   "F",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString": "IS",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":    "RAW",
}

type table struct {
	structs map[string][]string
}

// name is what Go prints for the type, below the API group where the package is versioned: core/v1.Pod, core.Pod.
func name(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	if strings.HasPrefix(t.String(), "v1.") {
		return parts[len(parts)-2] + "/" + t.String()
	}
	return t.String()
}

func (x *table) ref(t reflect.Type) string {
	if s, ok := special[t.PkgPath()+"."+t.Name()]; ok {
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + x.ref(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "by"
		}
		return x.named(t, "[]"+x.ref(t.Elem()))
	case reflect.Map:
		key := ""
		if t.Key().PkgPath() != "" {
			key = name(t.Key())
		}
		return x.named(t, "{"+key+"}"+x.ref(t.Elem()))
	case reflect.Struct:
		x.add(t)
		return name(t)
	case reflect.String:
		return x.named(t, "s")
	case reflect.Bool:
		return x.named(t, "b")
	case reflect.Int32:
		return x.named(t, "i32")
	case reflect.Int64:
		return x.named(t, "i64")
	case reflect.Int:
		return x.named(t, "int")
	case reflect.Float64:
		return "f64"
	}
	panic(t.String())
}

func (x *table) named(t reflect.Type, form string) string {
	if t.PkgPath() == "" {
		return form
	}
	return form + ":" + name(t)
}

func (x *table) add(t reflect.Type) {
	if _, done := x.structs[name(t)]; done {
		return
	}
	x.structs[name(t)] = nil
	fields := []string{}
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("json"), ",")
		jsonName := tag[0]
		if f.Tag.Get("json") == "" && !f.Anonymous {
			jsonName = f.Name
		}
		omit := ""
		for _, part := range tag[1:] {
			if part == "omitempty" {
				omit = "o"
			}
			if part == "omitzero" {
				omit = "z"
			}
		}
		goName := f.Name
		if strings.EqualFold(goName[:1], jsonName[:min(1, len(jsonName))]) && goName[1:] == jsonName[1:] {
			goName = ""
		}
		row := strings.Join([]string{jsonName, goName, x.ref(f.Type), omit, f.Tag.Get("patchStrategy"), f.Tag.Get("patchMergeKey"), number(f)}, "|")
		fields = append(fields, strings.TrimRight(row, "|"))
	}
	x.structs[name(t)] = fields
}

// number is the field's number in protobuf, or nothing where it is not sent.
func number(f reflect.StructField) string {
	parts := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

func main() {
	x := &table{structs: map[string][]string{}}
	for _, root := range []any{
		corev1.Pod{}, corev1.PersistentVolumeClaim{}, corev1.PersistentVolume{}, corev1.Node{}, corev1.Namespace{}, corev1.Event{},
		corev1.ConfigMap{}, corev1.Secret{}, corev1.Service{}, corev1.ServiceAccount{}, corev1.PodTemplate{}, corev1.ReplicationController{},
		corev1.LimitRange{}, corev1.ResourceQuota{}, corev1.Endpoints{},
		storagev1.StorageClass{}, storagev1.CSIDriver{}, storagev1.CSINode{}, storagev1.VolumeAttachment{}, storagev1.CSIStorageCapacity{},
		storagev1.VolumeAttributesClass{},
		appsv1.Deployment{}, appsv1.StatefulSet{}, appsv1.DaemonSet{}, appsv1.ReplicaSet{}, appsv1.ControllerRevision{},
		batchv1.Job{}, batchv1.CronJob{}, coordinationv1.Lease{}, eventsv1.Event{},
		metav1.DeleteOptions{}, metav1.Status{}, metav1.PartialObjectMetadata{},
		core.Pod{}, core.PersistentVolumeClaim{}, core.PersistentVolume{}, storage.VolumeAttachment{}, storage.CSIDriver{}, storage.CSINode{}, storage.StorageClass{},
	} {
		x.ref(reflect.TypeOf(root))
	}
	names := make([]string, 0, len(x.structs))
	for n := range x.structs {
		names = append(names, n)
	}
	sort.Strings(names)
	out := &strings.Builder{}
	out.WriteString("{\n")
	for i, n := range names {
		row, err := json.Marshal(x.structs[n])
		if err != nil {
			panic(err)
		}
		key, _ := json.Marshal(n)
		out.WriteString(string(key) + ":" + string(row))
		if i < len(names)-1 {
			out.WriteString(",")
		}
		out.WriteString("\n")
	}
	out.WriteString("}\n")
	if _, err := os.Stdout.WriteString(out.String()); err != nil {
		panic(err)
	}
}
