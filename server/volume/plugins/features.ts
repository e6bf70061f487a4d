/** Alpha gates of Kubernetes 1.37 that plugins read. All are off unless a host turns them on. */
export interface VolumeFeatures {
  /** EmptyDirVolumeMode: `emptyDir.mode` sets the mode of the directory. */
  readonly emptyDirVolumeMode?: boolean;
  /** AtomicWriteVolumeUserFields: `defaultUser` and `user` own the files of configMap, secret, downwardAPI and projected volumes. */
  readonly atomicWriteVolumeUserFields?: boolean;
}

/** What a plugin with such fields is made with. */
export interface FeaturesConfig {
  readonly features?: VolumeFeatures;
}
