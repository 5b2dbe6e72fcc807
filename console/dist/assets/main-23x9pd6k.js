import{j,g}from"/console/assets/main-0acvmvmb.js";function L(){return j({strict:!1})}function fe(){let e=g(),t=L();return(n)=>{let o=Object.entries({...t,...n}).filter(([,r])=>r!==void 0&&r!=="");e({to:".",search:Object.fromEntries(o),replace:!0})}}
export{L,fe};
